"""What ModelConfig refuses."""


def attempt(call):
    try:
        return f"returned {call()!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


SEEN = []


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        good = {"name": "X", "data_type": "TYPE_FP32", "dims": [-1]}
        lines = [
            attempt(lambda: config.add_input({**good, "label": 1})),
            attempt(lambda: config.add_input({"data_type": "TYPE_FP32", "dims": [1]})),
            attempt(lambda: config.add_input({"name": "X", "dims": [1]})),
            attempt(lambda: config.add_input({"name": "X", "data_type": "TYPE_FP32"})),
            attempt(lambda: config.add_input({**good, "dims": [2]})),
            attempt(lambda: config.add_input({**good, "optional": True})),
            attempt(lambda: config.add_input(good)),
            attempt(lambda: config.add_output({**good, "optional": True})),
            attempt(lambda: config.add_output({"name": "T", "data_type": "TYPE_FP32", "dims": [-1]})),
            attempt(lambda: config.add_output({"name": "T", "data_type": "TYPE_STRING", "dims": [7]})),
            attempt(lambda: config.set_max_batch_size(-1)),
            attempt(lambda: config.set_model_transaction_policy({"other": True})),
            attempt(lambda: config.set_model_transaction_policy({"decoupled": True})),
            attempt(lambda: config.set_dynamic_batching()),
        ]
        raise RuntimeError(" | ".join(lines))

    def execute(self, requests):
        return []
