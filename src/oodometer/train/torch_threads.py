"""On how many threads torch computes: sums in another order have other last bits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def torch_threads(n_threads: int) -> Iterator[None]:
    """So many threads for torch in this thread, and afterwards as many as before; 0: as it is."""
    import torch

    before = torch.get_num_threads()
    if n_threads:
        torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
