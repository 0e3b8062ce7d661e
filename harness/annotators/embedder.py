"""What a model that turns texts into vectors is to the embedding annotator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from scoring.core.setup import EmbeddingFacts

Received = Callable[[Sequence[str], npt.NDArray[np.float64]], None]
"""Is told of some texts and their vectors, one a row, as they come."""


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    facts: EmbeddingFacts
    maker: str
    """Identifies the model among what a memo keeps."""
    here: bool
    """True where no text leaves this machine."""

    def embed(self, texts: Sequence[str], received: Received) -> None:
        """Give the vectors of all texts, in batches and in any order, to ``received``.

        Some may be secret, so no error quotes what the model says. Raises HarnessError.
        """
        ...
