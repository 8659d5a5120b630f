"""What an embedder is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Embedder(Protocol):
    """Turns texts into vectors of one length; equal texts give equal vectors."""

    @property
    def name(self) -> str:
        """Names the model: vectors of two names are never compared."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row a text, of length 1; a row of zeros for a text without content."""
