"""auto_complete_config contradicts the config.pbtxt."""


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "X", "data_type": "TYPE_INT32", "dims": [-1]})
        return config

    def execute(self, requests):
        return []
