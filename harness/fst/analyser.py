"""An analyser that can be asked, whichever engine reads it: the built-in one, or a native one to compare it with.

The built-in engine reads every file that is sound, and no file can make it end the process. A native
engine is taken only where its name is given: it is quicker, and trusts what it reads.
"""

from __future__ import annotations

import contextlib
import gc
import io
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Protocol

from corpora.files.installed import version
from harness.core.installation import install_line
from harness.fst.builtin import MOST_ANALYSES, BuiltinEngine
from harness.fst.layout import Layout, check_layout, shown
from harness.fst.model import AnalyserError, FstStatus, read_model


class LookupEngine(Protocol):
    """Looks up words that the alphabet can spell."""

    @property
    def name(self) -> str:
        """As it is written on the run card."""

    @property
    def version(self) -> str:
        """As it is written on the run card."""

    def analyse(self, word: str, letters: list[int]) -> tuple[str, ...] | None:
        """Return the analyses of a word in order, empty from an acceptor; None where it is rejected."""


class NativeEngine:
    """An engine of an installed package; it is given a copy of what was checked, under our own header."""

    def __init__(self, name: str, layout: Layout, look_up: Callable[[str], Iterable[str]]) -> None:
        self.name = name
        self.version = version(name)
        self._look_up = look_up
        self._layout = layout

    def analyse(self, word: str, letters: list[int]) -> tuple[str, ...] | None:  # noqa: ARG002
        try:
            analyses = {shown(analysis) for analysis in self._look_up(word)}
        except Exception as error:
            raise _failed(self.name, self._layout, error) from error
        if not analyses:
            return None
        return () if self._layout.acceptor else tuple(sorted(analyses)[:MOST_ANALYSES])


def open_engine(layout: Layout, name: str | None = None) -> LookupEngine:
    """Return the built-in engine, or the named one.

    AnalyserError with ``engine_error`` where the named engine is not installed, does not fit the file or
    fails to open it.
    """
    if name is None or name == BuiltinEngine.name:
        return BuiltinEngine(layout)
    if name not in _NATIVE:
        known = ", ".join([BuiltinEngine.name, *_NATIVE])
        raise AnalyserError(FstStatus.ENGINE_ERROR, f"FST engine {name!r} is not known. There are: {known}.")
    return _native(layout, name)


def _native(layout: Layout, name: str) -> NativeEngine:
    """Load a package's engine with a private copy of the file's checked content."""
    file, builtin = f"Analyser {layout.model.name}", repr(BuiltinEngine.name)
    unfit = ""
    if layout.cyclic:
        unfit = f"{file} has a cycle that reads no letter, which would crash {name}: use the engine {builtin}."
    elif layout.weighted and name == "hfst-optimized-lookup":
        unfit = f"{file} has weights, which {name} cannot read: use the engine 'hfst' or {builtin}."
    elif name == "pyhfst" and any(
        # It takes short flags for letters, and unifies those with N wrongly.
        operator == "N" or len(layout.alphabet.symbols[number]) < 6
        for number, (operator, _, _) in layout.flags.by_symbol.items()
    ):
        unfit = f"{file} has flag diacritics that {name} misreads: use the engine {builtin}."
    if unfit:
        raise AnalyserError(FstStatus.ENGINE_ERROR, unfit)
    try:
        with tempfile.TemporaryDirectory(prefix="rosetta-fst-") as folder:
            copy = Path(folder) / "analyser.hfstol"
            copy.write_bytes(layout.with_own_header())
            return NativeEngine(name, layout, _NATIVE[name](str(copy)))
    except ImportError:
        raise AnalyserError(
            FstStatus.ENGINE_ERROR,
            f"FST engine {name!r} is not installed: install it with “{install_line(name)}”, or use the "
            f"engine {BuiltinEngine.name!r}.",
        ) from None
    except Exception as error:
        raise _failed(name, layout, error) from error


def _failed(name: str, layout: Layout, error: Exception) -> AnalyserError:
    """Return the error of an engine that failed; never quotes what it says, which may hold the word."""
    return AnalyserError(
        FstStatus.ENGINE_ERROR,
        f"FST engine {name!r} failed with analyser {layout.model.name} ({type(error).__name__}): use "
        f"the engine {BuiltinEngine.name!r}.",
    )


def _hfst(path: str) -> Callable[[str], Iterable[str]]:
    stream = import_module("hfst").HfstInputStream(path)
    analyser = stream.read()
    stream.close()

    def look_up(word: str) -> Iterable[str]:
        return (analysis for analysis, _ in analyser.lookup(word, max_number=_MOST_RESULTS))

    return look_up


def _hfst_optimized_lookup(path: str) -> Callable[[str], Iterable[str]]:
    analyser = import_module("hfst_optimized_lookup").TransducerFile(path)
    look_up: Callable[[str], Iterable[str]] = analyser.lookup
    return look_up


def _pyhfst(path: str) -> Callable[[str], Iterable[str]]:
    pyhfst = import_module("pyhfst")
    with contextlib.redirect_stdout(io.StringIO()):  # it says what it reads
        analyser = pyhfst.HfstInputStream(path).read()

    def look_up(word: str) -> Iterable[str]:
        return (analysis for analysis, _ in analyser.lookup(word))

    return look_up


_MOST_RESULTS = 20_000
_NATIVE: Mapping[str, Callable[[str], Callable[[str], Iterable[str]]]] = {
    "hfst-optimized-lookup": _hfst_optimized_lookup,
    "hfst": _hfst,
    "pyhfst": _pyhfst,
}


FORMAT = "1"
"""Version of what an analysis looks like here, whichever engine gives it; part of every memo's name."""

Verdict = tuple[bool, tuple[str, ...]]
"""Whether a word is accepted, and its analyses in alphabetical order."""


class Analyser:
    """A checked analyser file with the engine that reads it; any thread may ask."""

    def __init__(self, layout: Layout, engine: str | None = None) -> None:
        """``engine`` is a name of ``harness.fst.analyser``; None: the built-in one."""
        self._layout = layout
        self._engine = open_engine(layout, engine)
        self._lock = Lock()
        self.name = layout.model.name
        """File name, without its folder."""
        self.sha256 = layout.model.sha256
        """Over the file as it is on the disk."""
        self.engine = self._engine.name
        """``builtin``, ``hfst``, ``hfst-optimized-lookup`` or ``pyhfst``."""
        self.engine_version = self._engine.version
        self.acceptor = layout.acceptor
        """True where it has no analyses: a spell-checker."""

    def share_spelt(self, letters: Sequence[str]) -> float:
        """Return the share, 0–1, of some letters that the analyser's alphabet has; 0 of none."""
        spell = self._layout.alphabet.spell
        return sum(spell(letter) is not None for letter in letters) / (len(letters) or 1)

    def analyse(self, words: Sequence[str]) -> list[Verdict]:
        """Return a verdict on each word as it stands: nothing is lower-cased or normalised here.

        A word with a letter that the analyser does not have, NUL or a white space that it does not list
        among them, is rejected before any engine sees it. AnalyserError where the engine fails.
        """
        spell = self._layout.alphabet.spell
        spelt = {word: letters for word in set(words) if (letters := spell(word))}
        with self._lock, _collection_paused():
            analyses = {
                word: self._engine.analyse(word, spelt[word]) for word in sorted(spelt)
            }  # sorted: the built-in engine continues from where the last word began to differ
        verdicts = (analyses.get(word) for word in words)
        return [(verdict is not None, verdict or ()) for verdict in verdicts]


def open_analyser(path: Path, engine: str | None = None) -> Analyser:
    """Read and check an analyser file, and open it with the built-in engine, or the named one.

    AnalyserError has a status, and says which file it is and what to do.
    """
    return Analyser(check_layout(read_model(path)), engine)


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Prevent the garbage collector from going through an engine's growing memory again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
