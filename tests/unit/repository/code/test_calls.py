"""Calls of other models in code as people write it: by whose name, how they are waited for, and in which loops."""

import textwrap

import pytest

from tritonscope.repository.code.facts import CalleeName, Origin, Waiting
from tritonscope.repository.code.reader import read_code


@pytest.fixture
def read(tmp_path):
    """Reads a model whose `execute` has the body given, after `before` and with `more` methods."""

    def read(body="", *, before="", more="", execute="def execute(self, requests):", beside=None):
        indented = textwrap.indent(textwrap.dedent(body).strip() or "pass", " " * 8)
        methods = textwrap.indent(textwrap.dedent(more).strip(), " " * 4)
        source = f"{textwrap.dedent(before)}\nclass TritonPythonModel:\n    {execute}\n{indented}\n{methods}\n"
        (tmp_path / "1").mkdir(exist_ok=True)
        (tmp_path / "1" / "model.py").write_text(
            f"import asyncio\nimport triton_python_backend_utils as pb_utils\n{source}"
        )
        for name, text in (beside or {}).items():
            (tmp_path / "1" / name).write_text(textwrap.dedent(text))
        return read_code(tmp_path / "1" / "model.py")

    return read


def literal(*names):
    return tuple(CalleeName(Origin.LITERAL, name) for name in names)


def only(code):
    (call,) = code.calls
    return call


@pytest.mark.parametrize(
    ("before", "more", "expression", "names"),
    [
        ("", "", '"encoder"', literal("encoder")),
        ("ENCODER = 'encoder'", "", "ENCODER", literal("encoder")),
        ("MODELS = {'a': 'encoder', 'b': 'decoder'}", "", "MODELS['b']", literal("decoder")),
        ("MODELS = {'a': 'encoder', 'b': 'decoder'}", "", "MODELS[requests[0]]", literal("decoder", "encoder")),
        ("MODELS = ['encoder', 'decoder']", "", "MODELS[0]", literal("encoder")),
        ("SIZE = 'large'", "", "f'encoder_{SIZE}'", literal("encoder_large")),
        ("SIZE = 'large'", "", "'encoder_' + SIZE", literal("encoder_large")),
        ("", "", "'encoder' if requests else 'decoder'", literal("decoder", "encoder")),
        ("", "def initialize(self, args):\n    self.name = 'encoder'", "self.name", literal("encoder")),
        ("", "name = 'encoder'", "self.name", literal("encoder")),
        ("", "def which(self):\n    return 'encoder'", "self.which()", literal("encoder")),
        ("def pick(size, *, base='encoder'):\n    return f'{base}_{size}'", "", "pick('s')", literal("encoder_s")),
        ("a = b = 'encoder'", "", "b", literal("encoder")),
        ("a, b = 'encoder', 'decoder'", "", "b", literal("decoder")),
        ("class Names:\n    encoder = 'encoder'", "", "Names.encoder", literal("encoder")),
        (
            "class Names:\n    def __init__(self, base):\n        self.encoder = f'{base}_e'",
            "",
            "Names('x').encoder",
            literal("x_e"),
        ),
        (
            "class Names:\n    def __init__(self):\n        self.encoder = 'e'\nNAMES = Names()",
            "",
            "NAMES.encoder",
            literal("e"),
        ),
        ("a = a.b\nb = a.b", "", "a.b", (CalleeName(Origin.UNKNOWN, "a.b"),)),
        ("a = b\nb = a", "", "a", (CalleeName(Origin.UNKNOWN, "a"),)),
    ],
)
def test_names_are_found_where_they_are_set(read, before, more, expression, names):
    call = only(read(f"pb_utils.InferenceRequest(model_name={expression}).exec()", before=before, more=more))
    assert call.names == names


PARAMETERS = """
    def initialize(self, args):
        self.config = json.loads(args["model_config"])
        params = self.config["parameters"]
        self.direct = params["encoder"]["string_value"]
        self.careful = params.get("encoder", {}).get("string_value", "small")
        entry = params["encoder"]
        self.through = entry["string_value"]
        flat = {key: value["string_value"] for key, value in params.items()}
        self.flat = flat["encoder"]
        self.helped = get_parameter(self.config, "encoder")
"""
HELPER = """
def get_parameter(config, key, kind=str):
    if key not in config["parameters"]:
        return None
    value = config["parameters"][key]["string_value"]
    if kind == bool:
        return value.lower() in ["1", "true"]
    return kind(value)

OTHER = get_parameter({}, "decoder")
"""


@pytest.mark.parametrize(
    ("attribute", "default"), [("direct", ""), ("careful", "small"), ("through", ""), ("flat", ""), ("helped", "")]
)
def test_names_in_parameters_of_the_configuration_are_told_by_their_key(read, attribute, default):
    code = read(f"pb_utils.InferenceRequest(model_name=self.{attribute}).exec()", before=HELPER, more=PARAMETERS)
    assert only(code).names == (CalleeName(Origin.PARAMETER, "encoder", default),)


@pytest.mark.parametrize(
    ("expression", "default"),
    [("os.environ['MODEL']", ""), ("os.environ.get('MODEL', 'small')", "small"), ("os.getenv('MODEL')", "")],
)
def test_names_in_the_environment_are_told_by_the_variable(read, expression, default):
    code = read(f"pb_utils.InferenceRequest(model_name={expression}).exec()")
    assert only(code).names == (CalleeName(Origin.ENVIRONMENT, "MODEL", default),)


def test_a_name_that_comes_with_the_request_is_told_as_it_is_written(read):
    code = read("""
        for request in requests:
            name = pb_utils.get_input_tensor_by_name(request, "MODEL").as_numpy()[0].decode()
            pb_utils.InferenceRequest(model_name=name).exec()
    """)
    (name,) = only(code).names
    assert name.origin is Origin.UNKNOWN
    assert str(name).startswith("not literal: pb_utils.get_input_tensor_by_name(request, 'MODEL')")


def test_a_helper_s_callee_is_what_its_callers_give(read):
    code = read(
        """
        self.ask("encoder", requests)
        self.ask(name="decoder", inputs=requests)
        """,
        more="""
        def ask(self, name, inputs):
            return pb_utils.InferenceRequest(model_name=name, inputs=inputs).exec()
        """,
    )
    assert only(code).names == literal("decoder", "encoder")


def test_names_of_a_loop_are_all_found(read):
    code = read("""
        for number, (name, size) in enumerate([("encoder", 1), ("decoder", 2)]):
            pb_utils.InferenceRequest(model_name=name).exec()
    """)
    call = only(
        read("""
        for name in ["encoder", "decoder"]:
            pb_utils.InferenceRequest(model_name=name).exec()
    """)
    )
    assert call.names == literal("decoder", "encoder")
    assert (call.repeated, call.per_request) == (True, False)
    assert only(code).repeated


def test_a_class_beside_the_model_is_a_part_of_it(read):
    code = read(
        "self.client.ask(requests)",
        before="from .client import Client\n",
        more="""
        def initialize(self, args):
            self.client = Client("encoder")
        """,
        beside={
            "client.py": """
            import triton_python_backend_utils as pb_utils
            class Client:
                def __init__(self, model):
                    self.model = model
                def ask(self, inputs):
                    return pb_utils.InferenceRequest(model_name=self.model, inputs=inputs).exec()
            """
        },
    )
    assert (only(code).names, only(code).file, only(code).function) == (literal("encoder"), "client.py", "ask")


def test_an_attribute_of_any_other_object_is_not_mistaken_for_the_model_s_own(read):
    code = read("pb_utils.InferenceRequest(model_name=requests[0].name).exec()", more="name = 'encoder'")
    assert [str(name) for name in only(code).names] == ["not literal: requests[0].name"]


def test_constants_of_a_module_beside_the_model_are_found(read):
    code = read(
        "pb_utils.InferenceRequest(model_name=names.ENCODER).exec()\n"
        "pb_utils.InferenceRequest(model_name=DECODER).exec()",
        before="import names\nfrom names import DECODER\n",
        beside={"names.py": "ENCODER = 'encoder'\nDECODER = 'decoder'\n"},
    )
    assert [call.names for call in code.calls] == [literal("encoder"), literal("decoder")]


@pytest.mark.parametrize(
    ("body", "waiting"),
    [
        ("pb_utils.InferenceRequest(model_name='m').exec()", Waiting.BLOCKING),
        ("await pb_utils.InferenceRequest(model_name='m').async_exec()", Waiting.SERIAL),
        ("future = pb_utils.InferenceRequest(model_name='m').async_exec()\nanswer = await future", Waiting.SERIAL),
        (
            """
            futures = []
            for request in requests:
                futures.append(pb_utils.InferenceRequest(model_name="m").async_exec())
            answers = await asyncio.gather(*futures)
            """,
            Waiting.GATHERED,
        ),
        (
            """
            asked = [pb_utils.InferenceRequest(model_name="m") for request in requests]
            answers = await asyncio.gather(*[each.async_exec() for each in asked])
            """,
            Waiting.GATHERED,
        ),
        (
            """
            futures = [pb_utils.InferenceRequest(model_name="m").async_exec() for request in requests]
            answers = [await future for future in futures]
            """,
            Waiting.GATHERED,
        ),
        (
            """
            for request in requests:
                asked = pb_utils.InferenceRequest(model_name="m")
                answer = await asked.async_exec()
            """,
            Waiting.SERIAL,
        ),
        ("future = pb_utils.InferenceRequest(model_name='m').async_exec()", Waiting.UNKNOWN),
        ("pb_utils.InferenceRequest(model_name='m')", Waiting.UNKNOWN),
    ],
)
def test_how_answers_are_waited_for(read, body, waiting):
    assert only(read(body, execute="async def execute(self, requests):")).waiting is waiting


def test_coroutines_that_are_gathered_overlap_though_each_awaits_its_own(read):
    code = read(
        "return await asyncio.gather(*[self.answer(request) for request in requests])",
        execute="async def execute(self, requests):",
        more="""
        async def answer(self, request):
            return await pb_utils.InferenceRequest(model_name="m").async_exec()
        """,
    )
    assert (only(code).waiting, only(code).per_request, only(code).repeated) == (Waiting.GATHERED, True, False)


def test_two_futures_that_are_awaited_after_both_were_made_overlap(read):
    code = read(
        """
        first = pb_utils.InferenceRequest(model_name="a").async_exec()
        second = pb_utils.InferenceRequest(model_name="b").async_exec()
        one, two = await first, await second
        """,
        execute="async def execute(self, requests):",
    )
    assert [(call.names, call.waiting) for call in code.calls] == [
        (literal("a"), Waiting.GATHERED), (literal("b"), Waiting.SERIAL)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "pool.submit(pb_utils.InferenceRequest(model_name='m').exec)",
        "list(pool.map(self.ask, requests))",
        "threading.Thread(target=self.ask, args=(requests,)).start()",
        "await asyncio.to_thread(self.ask, requests)",
    ],
)
def test_calls_in_threads_are_told(read, body):
    code = read(
        body,
        execute="async def execute(self, requests):",
        more="def ask(self, inputs):\n    return pb_utils.InferenceRequest(model_name='m', inputs=inputs).exec()",
    )
    assert code.calls[0].waiting is Waiting.THREADED


def test_a_variable_that_is_used_again_is_the_newer_request(read):
    code = read(
        """
        request = pb_utils.InferenceRequest(model_name="a")
        answer = request.exec()
        request = pb_utils.InferenceRequest(model_name="b")
        answer = await request.async_exec()
        """,
        execute="async def execute(self, requests):",
    )
    assert [call.waiting for call in code.calls] == [Waiting.BLOCKING, Waiting.SERIAL]


def test_both_branches_of_an_if_reach_the_same_exec(read):
    code = read("""
        if requests:
            request = pb_utils.InferenceRequest(model_name="a")
        else:
            request = pb_utils.InferenceRequest(model_name="b")
        for answer in request.exec(decoupled=True):
            pass
    """)
    assert [(call.names, call.decoupled) for call in code.calls] == [(literal("a"), True), (literal("b"), True)]


@pytest.mark.parametrize(
    ("options", "decoupled"),
    [("", False), ("decoupled=True", True), ("decoupled=False", False), ("decoupled=x", None)],
)
def test_decoupled_calls_are_told(read, options, decoupled):
    assert only(read(f"pb_utils.InferenceRequest(model_name='m').exec({options})")).decoupled is decoupled


@pytest.mark.parametrize(
    ("body", "per_request", "repeated"),
    [
        ("self.ask(requests)", False, False),
        ("for request in requests:\n    self.ask(request)", True, False),
        ("[self.ask(request) for request in requests]", True, False),
        ("for number, request in enumerate(requests):\n    self.ask(request)", True, False),
        ("for request in requests:\n    while True:\n        self.ask(request)", True, True),
        ("while True:\n    self.ask(requests)", False, True),
        ("for answer in self.ask(requests):\n    pass", False, False),
    ],
)
def test_loops_over_the_batch_and_others_are_told_apart_through_helpers(read, body, per_request, repeated):
    call = only(read(
        body,
        more="def ask(self, inputs):\n    return pb_utils.InferenceRequest(model_name='m', inputs=inputs).exec()",
    ))  # fmt: skip
    assert (call.per_request, call.repeated) == (per_request, repeated)


def test_a_batch_may_have_any_name(read):
    body = "for one in batch:\n    pb_utils.InferenceRequest(model_name='m').exec()"
    assert only(read(body, execute="def execute(self, batch):")).per_request


def test_models_that_are_asked_through_the_server_s_own_door_are_found(read):
    """A hidden orchestrator: no ensemble, no BLS, an HTTP client inside of `execute`."""
    code = read(
        """
        for request in requests:
            self.client.infer(model_name="encoder", inputs=[])
            self.client.infer("decoder", [])
        """,
        before="import tritonclient.http as http\n",
    )
    assert [(call.names, call.by_client, call.per_request) for call in code.calls] == [
        (literal("encoder"), True, True), (literal("decoder"), True, True)
    ]  # fmt: skip


def test_methods_that_only_sound_alike_are_no_calls(read):
    assert read("self.session.infer('m')\nself.session.exec()").calls == ()


def test_a_request_without_a_name_says_so(read):
    (name,) = only(read("pb_utils.InferenceRequest(**requests).exec()")).names
    assert str(name) == "not literal: none is given"
