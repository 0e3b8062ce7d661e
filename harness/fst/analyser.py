"""An analyser that can be asked, whichever engine reads it."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from harness.fst.engines import open_engine
from harness.fst.layout import Layout, check_layout
from harness.fst.model import read_model

FORMAT = "1"
"""Version of what an analysis looks like here, whichever engine gives it; part of every memo's name."""

Verdict = tuple[bool, tuple[str, ...]]
"""Whether a word is accepted, and its analyses in alphabetical order."""


class Analyser:
    """A checked analyser file with the engine that reads it; any thread may ask."""

    def __init__(self, layout: Layout, engine: str | None = None) -> None:
        """``engine`` is a name of ``harness.fst.engines``; None: the built-in one."""
        self._layout = layout
        self._engine = open_engine(layout, engine)
        self._lock = Lock()

    @property
    def name(self) -> str:
        """File name, without its folder."""
        return self._layout.model.name

    @property
    def sha256(self) -> str:
        """Over the file as it lies on the disk."""
        return self._layout.model.sha256

    @property
    def engine(self) -> str:
        """``builtin``, ``hfst``, ``hfst-optimized-lookup`` or ``pyhfst``."""
        return self._engine.name

    @property
    def engine_version(self) -> str:
        """Version of the engine."""
        return self._engine.version

    @property
    def acceptor(self) -> bool:
        """True where it has no analyses: a spell-checker."""
        return self._layout.acceptor

    def share_spelt(self, letters: Sequence[str]) -> float:
        """Return the share, 0–1, of some letters that the analyser's alphabet has; 0 of none."""
        spell = self._layout.alphabet.spell
        return (
            sum(spell(letter) is not None for letter in letters) / len(letters) if letters else 0.0
        )

    def analyse(self, words: Sequence[str]) -> list[Verdict]:
        """Return a verdict on each word as it stands: nothing is lower-cased or normalised here.

        A word with a letter that the analyser does not have, NUL or a white space that it does not list
        among them, is rejected before any engine sees it. AnalyserError where the engine fails.
        """
        spell = self._layout.alphabet.spell
        spelt = {word: letters for word in set(words) if (letters := spell(word))}
        with self._lock, _collection_paused():
            found = {
                word: self._engine.analyse(word, spelt[word]) for word in sorted(spelt)
            }  # sorted: the built-in engine goes on from where the last word began to differ
        verdicts = (found.get(word) for word in words)
        return [(verdict is not None, verdict or ()) for verdict in verdicts]


def open_analyser(path: Path, engine: str | None = None) -> Analyser:
    """Read and check an analyser file, and open it with the built-in engine, or the named one.

    AnalyserError has a status, and says which file it is and what to do.
    """
    return Analyser(check_layout(read_model(path)), engine)


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Keep the garbage collector from going through an engine's growing memory again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
