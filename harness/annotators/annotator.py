"""What an annotator is, and where it keeps what it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from scoring.core.translation import Translation


class Memo(Protocol):
    """What an annotator found before, kept for later runs; never told of secret texts.

    ``maker`` identifies everything that a finding depends on besides its key: the analyser's hash and
    engine, or the model.
    """

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        """Return what is kept for these keys, for all where None."""
        ...

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        """Keep findings by key."""
        ...


class NoMemo:
    """Keeps nothing."""

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:  # noqa: ARG002
        """See ``Memo``."""
        return {}

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        """See ``Memo``."""


class Annotator(Protocol):
    """Fills one field of translations."""

    id: str
    """Key in ``Translation.annotations``: ``fst``, ``embeddings`` or ``comet``."""
    slow: bool
    """True where it is asked once, when all outputs are in, not while they stream."""

    def annotate(self, translations: Sequence[Translation]) -> list[Any]:
        """Return the annotation of each translation, None where there is nothing to say.

        What belongs to a secret entry is looked up all the same but never kept in the memo. Raises
        HarnessError where the work cannot be done; the message quotes no text.
        """
        ...

    def close(self) -> None:
        """Keep what is new and let go of what was opened."""
        ...
