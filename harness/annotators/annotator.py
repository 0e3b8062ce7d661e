"""What an annotator is, where it keeps what it found, and what a model that turns texts into vectors is to one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from harness.core.calls import Calls
from scoring.core.setup import EmbeddingFacts, Translation

if TYPE_CHECKING:
    from pydantic import BaseModel

    from corpora.model.entry import Entry
    from scoring.words.source_words import Resources


Received = Callable[[Sequence[str], npt.NDArray[np.float64]], None]
"""Is told of some texts and their vectors, one a row, as they come."""


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    facts: EmbeddingFacts
    maker: str
    """Identifies the model among what a memo keeps."""
    here: bool
    """True where no text leaves this machine."""

    async def embed(self, texts: Sequence[str], received: Received, calls: Calls) -> None:
        """Pass the vectors of all texts, in batches and in any order, to ``received``.

        Some may be secret, so no error quotes what the model says. Raises HarnessError.
        """

    def check_budget(self) -> None:
        """Raise UsageError where no budget can be kept, because nobody knows what a call costs."""


class Memo(Protocol):
    """What an annotator found before, kept for later runs; never told of secret texts.

    ``maker`` identifies everything that a finding depends on besides its key: the analyser's hash and
    engine, or the model.
    """

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        """Return the stored values for these keys, for all where None."""

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        """Store findings by key."""


class NoMemo:
    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:  # noqa: ARG002
        return {}

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        """Store nothing; see ``Memo``."""


class Annotator(Protocol):
    """Fills one field of translations."""

    id: str
    """Key in ``Translation.annotations``, and its row in ``harness/setup/scoring_options.py``."""
    slow: bool
    """True where it is asked once, when all outputs are in, not while they stream."""

    def annotate(self, translations: Sequence[Translation]) -> list[Any]:
        """Return the annotation of each translation, None where there is nothing to say.

        What belongs to a secret entry is looked up all the same but never kept in the memo. Raises
        HarnessError where the work cannot be done; the message quotes no text.
        """

    def close(self) -> None:
        """Store what is new and close what was opened."""


@runtime_checkable
class AskingAnnotator(Protocol):
    """Fills one field of translations with what an endpoint answers; its calls are carried like a method's.

    It is always slow: asked once, when all outputs are in.
    """

    id: str
    slow: bool
    apart: bool
    """True where each translation is its own question, whose answer is stored with its entry; False where
    several are asked for together."""
    maker: str
    """Identifies everything that an answer depends on besides the translation."""
    endpoint: str | None
    """URL of a server that a person must have answered for before it is sent secret texts; None where there is
    none."""

    async def ask(self, translations: Sequence[Translation], calls: Calls) -> list[Any]:
        """Return the annotation of each translation, None where there is nothing to say.

        Gets one translation at a time where ``apart``. Raises CallError where a call finally failed, HarnessError
        where the work cannot be done; the message quotes no text.
        """

    def check_budget(self) -> None:
        """Raise UsageError where no budget can be kept, because nobody knows what a call costs."""

    def close(self) -> None:
        """Close what was opened."""


AnyAnnotator = Annotator | AskingAnnotator

Ask = Callable[[AskingAnnotator, Sequence[Translation]], list[Any]]
"""Carries the calls of an annotator for some translations; blocks."""


@dataclass(frozen=True, slots=True)
class Search:
    """With what an annotator looks for what it needs, when a run is prepared."""

    resources: Resources
    """Its setup tells of the annotators that were found before."""
    entries: Sequence[Entry]
    """Those of the run."""
    memo: Memo
    told: Mapping[str, Any]
    """The options about scoring, by name."""
    folders: Sequence[Path]
    """Where users keep language cards and analysers."""
    offline: bool
    step: Callable[[int, int], None]
    """Is told how many texts are done, and of how many."""
    folder: Path | None = None
    """In which the corpus's file lies, and what its records name; None where that is not known."""
    prices: Path | None = None
    """The user's own price table."""
    id: str = ""
    """Of the annotator, where one file has several."""


@dataclass(frozen=True, slots=True)
class Find:
    """What the search of an annotator gave; its file has ``find(search)``, which gives one, or None."""

    annotator: AnyAnnotator | None
    facts: BaseModel | None
    """What the run card tells of it: no text of an entry, no key, no local path."""
    off: Mapping[str, str] = field(default_factory=dict)
    """Metric → why it is off, where something was found that cannot be used."""
