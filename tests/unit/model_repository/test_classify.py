"""The network of `classify` against its definition, its training, and the weights that are shipped."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.append(str(Path(__file__).parents[3] / "model_repository" / "classify" / "1"))

import train
from network import GRID, PATCH, STRIDE, Weights, features, probabilities


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.fixture
def pixels(rng) -> np.ndarray:
    return rng.uniform(-1, 1, (2, 3, 64, 64)).astype(np.float32)


@pytest.fixture
def scenes(rng) -> list[Image.Image]:
    """Three images that differ in colour: a class each."""
    colours = np.array([[200, 60, 60], [60, 200, 60], [60, 60, 200]])
    noise = rng.normal(0, 40, (3, 96, 128, 3))
    return [Image.fromarray(one) for one in (colours[:, None, None] + noise).clip(0, 255).astype(np.uint8)]


def test_features_are_the_mean_positive_answer_of_a_filter_in_a_field(pixels, rng):
    """One feature, computed from the definition in plain loops."""
    filters = train.orthonormal_filters(rng, count=4)
    row, column, which = 1, 2, 3
    answers = []
    for y in range(row * 5, row * 5 + 5):
        for x in range(column * 5, column * 5 + 5):
            top, left = y * STRIDE, x * STRIDE
            patch = pixels[1, :, top : top + PATCH, left : left + PATCH]
            answers.append(max(0.0, float(np.sum(patch.ravel() * filters[:, which]))))
    found = features(pixels, filters).reshape(2, GRID, GRID, 4)[1, row, column, which]
    assert found == pytest.approx(np.mean(answers), rel=1e-4)


def test_a_batch_gives_what_its_pictures_give_alone(pixels):
    weights = Weights.load(train.WEIGHTS)
    alone = np.concatenate([probabilities(one[None], weights) for one in pixels])
    together = probabilities(pixels, weights)
    assert together == pytest.approx(alone, abs=1e-5)
    assert together.dtype == np.float32
    assert together.sum(axis=1) == pytest.approx([1, 1], abs=1e-5)


def test_filters_are_orthonormal(rng):
    filters = train.orthonormal_filters(rng)
    assert filters.T @ filters == pytest.approx(np.eye(train.FILTERS), abs=1e-5)


def test_the_fitted_head_is_where_the_penalised_likelihood_is_flat(rng):
    """The gradient vanishes at a minimum, whatever way led there."""
    inputs = rng.standard_normal((60, 4)) * [1, 5, 0.1, 1] + [0, 3, 0, -1]
    classes = rng.integers(0, 3, 60)
    head, bias = train.fit_head(inputs, classes, 3, penalty=0.05, steps=3000)
    logits = inputs @ head + bias
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    excess = (chances - np.eye(3)[classes]) / len(inputs)
    deviation = inputs.std(axis=0)
    standard = (inputs - inputs.mean(axis=0)) / deviation
    assert excess.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-5)
    assert standard.T @ excess + 0.05 * head * deviation[:, None] == pytest.approx(np.zeros((4, 3)), abs=1e-4)


def test_training_tells_scenes_apart_that_differ_in_colour(scenes, rng):
    weights = train.train(train.crops(scenes, 12, rng), len(scenes), rng)
    assert train.accuracy(weights, train.crops(scenes, 8, rng)) == 1


def test_training_with_one_seed_gives_the_same_weights(scenes):
    first, second = (
        train.train(train.crops(scenes, 2, rng), len(scenes), rng)
        for rng in (np.random.default_rng(3), np.random.default_rng(3))
    )
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


def test_images_are_put_in_the_order_of_the_labels():
    names = train.LABELS.read_text().split()
    images = {name: Image.new("RGB", (number + 1, 1)) for number, name in enumerate(names)}
    backwards = dict(reversed(images.items()))
    assert [image.width for image in train.in_order_of_labels(backwards)] == list(range(1, len(names) + 1))
