"""The version's folder and the model's folder are on sys.path; one import happens in execute."""

from near import near


class TritonPythonModel:
    def execute(self, requests):
        from far import answer

        return [answer(request, near()) for request in requests]
