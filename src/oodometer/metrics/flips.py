"""How restless predictions are along a perturbation sequence: flip probability, flip rate, top-5 distance.

Hendrycks and Dietterich 2019 (ImageNet-P). In a noise sequence every frame is an independent disturbance of frame 0, so
frames are compared with frame 0; in the others the image changes little by little, so each is compared with the frame
before.

AlexNet's flip probabilities are not bundled: a rate is set against a model that the user names.
"""

from __future__ import annotations

import numpy as np

from oodometer.core.errors import OodometerError

NOISE_SEQUENCES = frozenset({"gaussian_noise", "shot_noise", "speckle_noise"})
"""Their frames are compared with frame 0."""

N_BEST = 5


def is_noise(sequence: str) -> bool:
    """Whether the frames of this sequence are compared with frame 0.

    >>> is_noise("shot_noise"), is_noise("rotate")
    (True, False)
    """
    return sequence in NOISE_SEQUENCES


def flip_scores(predictions: np.ndarray, *, noise: bool, step: int = 1) -> np.ndarray:
    """The share of each image's frames whose prediction is another than before, (N, F) -> (N,).

    The mean over the images is the flip probability of the sequence.

    Args:
        noise: Compare with frame 0 rather than with the frame before; see `is_noise`.
        step: Compare with the frame this many before: the harder sequences of the paper. Not for noise.

    >>> flip_scores(np.array([[7, 7, 3, 3, 7]]), noise=False).tolist()
    [0.5]
    >>> flip_scores(np.array([[7, 7, 3, 3, 7]]), noise=True).tolist()
    [0.5]
    >>> flip_scores(np.array([[7, 7, 3, 3, 7]]), noise=False, step=2).tolist()
    [1.0]
    """
    if predictions.ndim != 2:
        raise OodometerError(f"predictions of shape {predictions.shape}: need one per frame of each image, (N, F)")
    before, after = _compared(predictions, noise, step)
    return np.asarray((before != after).mean(axis=1))


def top5_distances(top5: np.ndarray, *, noise: bool, step: int = 1) -> np.ndarray:
    """How far the five best classes of each image move from frame to frame, (N, F, 5) -> (N,).

    Between two frames: the sum over ranks i of 1 to 5 of |min(i - 1, 5) - min(r - 1, 5)|, r being the rank in the
    later frame of the class ranked i in the earlier one; 15 where no class is kept. Not normalised; the mean over
    pairs of frames. Arguments as of `flip_scores`.

    >>> top5_distances(np.array([[[1, 2, 3, 4, 5], [2, 1, 3, 4, 5], [6, 7, 8, 9, 0]]]), noise=False).tolist()
    [8.5]
    """
    if top5.ndim != 3 or top5.shape[2] != N_BEST:
        raise OodometerError(f"the best classes have shape {top5.shape}: need five per frame of each image, (N, F, 5)")
    if (top5 < 0).any():
        raise OodometerError("fewer than five classes are known for some frames: the top-5 distance is undefined")
    before, after = _compared(top5, noise, step)
    total = np.zeros(before.shape[:1])
    # Rank by rank, so that no array is larger than the input.
    for rank in range(N_BEST):
        hit = before[:, :, rank, None] == after
        found = np.where(hit.any(axis=2), hit.argmax(axis=2), N_BEST)
        total += np.abs(found - rank).mean(axis=1)
    return total


def _compared(frames: np.ndarray, noise: bool, step: int) -> tuple[np.ndarray, np.ndarray]:
    """The frames to compare, and those to compare them with; both (N, pairs, ...)."""
    if noise and step != 1:
        raise OodometerError("a noise sequence is compared with its frame 0: its step is 1; harder noise is stronger")
    n, n_frames = frames.shape[:2]
    if step < 1 or n_frames <= step:
        raise OodometerError(
            f"{n_frames} frames at a step of {step}: need a step of at least 1 and more frames than it"
        )
    if n == 0:
        raise OodometerError("no images, so the flip probability is undefined")
    # The published k interleaved subsequences together hold every pair of frames that are k apart, once.
    return (frames[:, :1] if noise else frames[:, :-step]), frames[:, step:]


def mean_over_sequences(means: np.ndarray) -> np.ndarray:
    """The plain mean of flip probabilities or top-5 distances over the sequences, (..., P) -> (...,).

    >>> float(mean_over_sequences(np.array([0.1, 0.3])))
    0.2
    """
    return np.asarray(_checked(means, "means").mean(axis=-1))


def sequence_rates(means: np.ndarray, normaliser: np.ndarray) -> np.ndarray:
    """Flip rates, or top-5 rates: the model's mean on each sequence by that of the normaliser, (..., P) -> (..., P).

    >>> sequence_rates(np.array([0.1, 0.3]), np.array([0.2, 0.2])).round(6).tolist()
    [0.5, 1.5]
    """
    of_model, of_normaliser = _checked(means, "means"), _checked(normaliser, "means of the normaliser")
    if of_model.shape[-1] != of_normaliser.shape[-1]:
        raise OodometerError(
            f"{of_model.shape[-1]} sequences, and {of_normaliser.shape[-1]} of the normaliser: need the same"
        )
    if (of_normaliser == 0).any():
        raise OodometerError("the normaliser never changes its answer on some sequence: the rate is undefined")
    return np.asarray(of_model / of_normaliser)


def mean_rate(means: np.ndarray, normaliser: np.ndarray) -> np.ndarray:
    """The mean flip rate (mFR) or mean top-5 rate (mT5D) over the sequences, (..., P) -> (...,).

    >>> round(float(mean_rate(np.array([0.1, 0.3]), np.array([0.2, 0.2]))), 12)
    1.0
    """
    return np.asarray(sequence_rates(means, normaliser).mean(axis=-1))


def _checked(means: np.ndarray, what: str) -> np.ndarray:
    if means.ndim < 1 or means.size == 0:
        raise OodometerError(f"{what} of shape {means.shape}: need (..., sequences), none of them empty")
    # Written so that NaN fails as well.
    if not bool((means >= 0).all()):
        raise OodometerError(f"{what}: some is negative or not a number")
    return means
