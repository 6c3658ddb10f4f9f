"""Trains the weights of this model on the sample photographs, in seconds, and says how it does on other crops.

The filters are random and stay as they are; only the linear head is trained. The same releases of numpy and Pillow
give the same weights. Needs tritonscope, for the photographs.

Example:
  python model_repository/classify/1/train.py
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# What `decode` does to a picture, the training does too.
sys.path.append(str(Path(__file__).resolve().parents[2] / "decode" / "1"))

import numpy as np
from network import PATCH, Weights, features, probabilities, softmax
from PIL import Image
from pixels import to_pixels

from tritonscope.server.photographs import photographs

WEIGHTS = Path(__file__).resolve().with_name("weights.npz")
LABELS = WEIGHTS.parents[2] / "label" / "1" / "labels.txt"
SEED = 7
FILTERS = 64
TRAINING_CROPS = 160
HELD_OUT_CROPS = 80


class Examples(NamedTuple):
    """`pixels` [N, 3, 64, 64] and the class of each."""

    pixels: np.ndarray
    classes: np.ndarray


def orthonormal_filters(rng: np.random.Generator, count: int = FILTERS) -> np.ndarray:
    """Return `count` random filters at right angles to each other, each of length 1."""
    square, _ = np.linalg.qr(rng.standard_normal((3 * PATCH**2, count)))
    return square.astype(np.float32)


def augmented(image: Image.Image, rng: np.random.Generator) -> np.ndarray:
    """Return a random crop as the network sees it: of any aspect, perhaps flipped, lighter or darker."""
    width, height = (side * rng.uniform(0.45, 1) for side in image.size)
    left, top = rng.uniform(0, image.width - width), rng.uniform(0, image.height - height)
    crop = image.crop((round(left), round(top), round(left + width), round(top + height)))
    pixels = to_pixels(crop) * rng.uniform(0.8, 1.2) + rng.uniform(-0.15, 0.15)
    return np.clip(pixels[:, :, ::-1] if rng.random() < 0.5 else pixels, -1, 1)


def crops(images: Sequence[Image.Image], each: int, rng: np.random.Generator) -> Examples:
    """Return `each` crops of every image; its place in `images` is its class."""
    pixels = [augmented(image, rng) for image in images for _ in range(each)]
    return Examples(np.stack(pixels).astype(np.float32), np.repeat(np.arange(len(images)), each))


def fit_head(
    inputs: np.ndarray, classes: np.ndarray, count: int, penalty: float = 1e-3, steps: int = 300
) -> tuple[np.ndarray, np.ndarray]:
    """Fit logistic regression to `count` classes by gradient descent with momentum; return head and bias.

    The features are standardised for the descent, and that is folded into the result.
    """
    mean, deviation = inputs.mean(axis=0), inputs.std(axis=0) + 1e-6
    standard = (inputs - mean) / deviation
    wanted = np.eye(count, dtype=inputs.dtype)[classes]
    # 1 / Lipschitz constant of the gradient, which half the largest eigenvalue of the covariance bounds.
    rate = 1 / (0.5 * np.linalg.norm(standard, 2) ** 2 / len(inputs) + penalty)
    head, bias = np.zeros((inputs.shape[1], count)), np.zeros(count)
    speed_head, speed_bias = np.zeros_like(head), np.zeros_like(bias)
    for _ in range(steps):
        excess = (softmax(standard @ head + bias) - wanted) / len(inputs)
        speed_head = 0.9 * speed_head - rate * (standard.T @ excess + penalty * head)
        speed_bias = 0.9 * speed_bias - rate * excess.sum(axis=0)
        head, bias = head + speed_head, bias + speed_bias
    scaled = head / deviation[:, None]
    return scaled.astype(np.float32), (bias - mean @ scaled).astype(np.float32)


def train(examples: Examples, count: int, rng: np.random.Generator) -> Weights:
    """Return random filters and the head that tells `count` classes apart with them."""
    filters = orthonormal_filters(rng)
    head, bias = fit_head(features(examples.pixels, filters), examples.classes, count)
    return Weights(filters, head, bias)


def accuracy(weights: Weights, examples: Examples) -> float:
    """Return the share of the examples whose most probable class is the right one."""
    return float(np.mean(probabilities(examples.pixels, weights).argmax(axis=1) == examples.classes))


def in_order_of_labels(images: Mapping[str, Image.Image]) -> list[Image.Image]:
    """Return the images in the order in which `label` names the classes."""
    return [images[scene] for scene in LABELS.read_text().split()]


def main() -> None:
    """Train, save, and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=WEIGHTS, metavar="FILE")
    output = parser.parse_args().output

    images = in_order_of_labels(photographs(print))
    rng = np.random.default_rng(SEED)
    training, held_out = crops(images, TRAINING_CROPS, rng), crops(images, HELD_OUT_CROPS, rng)
    weights = train(training, len(images), rng)
    np.savez(output, **weights._asdict())
    print(f"{output}: {output.stat().st_size / 1000:.0f} kB, {len(images)} scenes")
    print(f"accuracy on {len(training.classes)} training crops: {accuracy(weights, training):.3f}")
    print(f"accuracy on {len(held_out.classes)} other crops:    {accuracy(weights, held_out):.3f}")


if __name__ == "__main__":
    main()
