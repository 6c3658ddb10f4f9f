"""The example pipeline knows its pictures, and says plainly what is wrong with an input that is none."""

import pytest
from tritonclient.utils import InferenceServerException

from tests.integration.pipeline import classify, connect
from tritonscope.server.examples import example_repository
from tritonscope.server.pictures import GENERATED, sample_pictures

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def client(serve):
    with serve(example_repository()) as server:
        yield connect(server.grpc_url)


def test_every_sample_picture_gets_the_label_of_its_scene(client):
    pictures = [picture for picture in sample_pictures() if picture.origin != GENERATED]
    if not pictures:
        pytest.skip("no photographs here (no package index in reach), only generated pictures")
    labels = {picture.name: classify(client, picture)[0][0].decode() for picture in pictures}
    assert labels == {picture.name: picture.scene for picture in pictures}


def test_an_input_that_is_no_jpeg_is_an_invalid_argument(client):
    broken = sample_pictures()[0]._replace(jpeg=b"no picture")
    with pytest.raises(InferenceServerException, match="not a JPEG") as raised:
        classify(client, broken)
    assert raised.value.status() == "StatusCode.INVALID_ARGUMENT"
