"""A small convolutional network: fixed orthonormal filters, ReLU, average pooling, a trained linear head."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

PATCH = 8
STRIDE = 4
GRID = 3
"""The 15 x 15 places of the filters are averaged over GRID x GRID fields."""


class Weights(NamedTuple):
    """`filters` [3 * PATCH**2, F], `head` [GRID**2 * F, classes] and `bias` [classes], all FP32."""

    filters: np.ndarray
    head: np.ndarray
    bias: np.ndarray

    @classmethod
    def load(cls, path: Path) -> "Weights":
        with np.load(path) as arrays:
            return cls(arrays["filters"], arrays["head"], arrays["bias"])


def features(pixels: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Turn [N, 3, 64, 64] into [N, GRID**2 * F]: how strongly each filter answers in each field."""
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (PATCH, PATCH), axis=(2, 3))
    patches = windows[:, :, ::STRIDE, ::STRIDE].transpose(0, 2, 3, 1, 4, 5)
    count, side = patches.shape[:2]
    answers = np.maximum(patches.reshape(count * side * side, -1) @ filters, 0)
    field = side // GRID
    return answers.reshape(count, GRID, field, GRID, field, -1).mean(axis=(2, 4)).reshape(count, -1)


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def probabilities(pixels: np.ndarray, weights: Weights) -> np.ndarray:
    """Return [N, classes], each row summing to 1."""
    return softmax(features(pixels, weights.filters) @ weights.head + weights.bias)
