"""The layout of HFST's optimized-lookup files, checked to the last byte before any engine sees one.

A file is: an optional header that names its kind; 56 bytes of counts and properties; the symbols; the
index table, six bytes a row; the transition table, eight bytes a row, twelve with weights. Native engines
trust all of that, so that a truncated file, or one changed byte in the header, ends the whole process.
The symbols say which words can be spelt; flag diacritics among them are conditions on a path that no letter shows.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.fst.model import Model

MOST_LETTERS = 200
"""Longest word that is looked up; no language has longer ones, and hostile outputs do."""

_SPECIAL = re.compile(r"@(?:[PNRDCU]\..*|_.*_|0)@", re.DOTALL)
_SHOWN_BY_NATIVE = re.compile(r"@(?:[PNRDCU]\.[^@]*|_[A-Z_]+_|0)@")


class Alphabet:
    """The numbered symbols; the first ``inputs`` of them may be in a word."""

    def __init__(self, symbols: Sequence[str], inputs: int) -> None:
        self.symbols = tuple(symbols)
        self.inputs = inputs
        self.shown = tuple("" if special(symbol) else symbol for symbol in symbols)
        """By number: what the symbol adds to an analysis."""

    @cached_property
    def _numbers(self) -> dict[str, int]:
        letters = enumerate(self.shown[: self.inputs])
        return {letter: number for number, letter in letters if letter and number}

    @cached_property
    def _letter(self) -> re.Pattern[str]:
        longest_first = sorted(self._numbers, key=len, reverse=True)
        several = [re.escape(letter) for letter in longest_first if len(letter) > 1]
        single = "".join(re.escape(letter) for letter in longest_first if len(letter) == 1)
        return re.compile("|".join([*several, *([f"[{single}]"] if single else [])]) or r"(?!)")

    def spell(self, word: str) -> list[int] | None:
        """Return a word as symbol numbers, the longest symbol first; None where it cannot be spelt.

        An engine that takes an unknown letter for the end of the word would accept what merely begins
        like a word of the language, and untranslated English most of all.
        """
        if len(word) > MOST_LETTERS:
            return None
        letters = self._letter.findall(word)
        if sum(map(len, letters)) != len(word) or not letters:
            return None
        numbers = self._numbers
        return [numbers[letter] for letter in letters]


def special(symbol: str) -> bool:
    """Return whether a symbol stands for no letter: epsilon, a flag diacritic, unknown, identity."""
    return _SPECIAL.fullmatch(symbol) is not None


def shown(analysis: str) -> str:
    """Extract the special symbols from an analysis as another engine gives it."""
    return _SHOWN_BY_NATIVE.sub("", analysis) if "@" in analysis else analysis


_FLAG = re.compile(r"@([PNRDCU])\.([^.@]+)(?:\.([^@]+))?@")

Values = tuple[int, ...]
"""The value of each feature on a path: 0 none, n the n-th value, −n anything but the n-th."""

Flag = tuple[str, int, int]
"""Operator, number of the feature, number of the value; value 0 where the flag names none."""


class Flags:
    """The flag diacritics of one alphabet, and what each does to the values of a path."""

    def __init__(self, symbols: Sequence[str]) -> None:
        features: dict[str, int] = {}
        values: dict[str, int] = {}
        self.by_symbol: dict[int, Flag] = {}
        """Symbol number → its flag."""
        for number, symbol in enumerate(symbols):
            if match := _FLAG.fullmatch(symbol):
                operator, feature, value = match.groups()
                place = features.setdefault(feature, len(features))
                of_value = values.setdefault(value, len(values) + 1) if value else 0
                self.by_symbol[number] = operator, place, of_value
        self.start: Values = (0,) * len(features)
        """No feature has a value where a word begins."""

    def after(self, values: Values, flag: Flag) -> Values | None:
        """Return the values after a flag, None where the path ends at it."""
        operator, feature, value = flag
        held = values[feature]
        if operator in _CONDITIONS:
            return values if _CONDITIONS[operator](held, value) else None
        if operator == "U" and held not in {0, value} and not (held < 0 and held != -value):
            return None
        put = {"P": value, "U": value, "N": -value, "C": 0}[operator]
        if put == held:
            return values
        return (*values[:feature], put, *values[feature + 1 :])


_CONDITIONS = {
    "R": lambda held, value: held == value if value else held != 0,
    "D": lambda held, value: held != value if value else held == 0,
}
"""Require and disallow, with a value or with any."""


NO_SYMBOL = 0xFFFF
"""Is in the rows that hold no arc."""

NO_TARGET = 0xFFFFFFFF

IN_TRANSITIONS = 0x80000000
"""Added to a target that is a row of the transition table; others are rows of the index table."""

_COUNTS = struct.Struct("<HH4I9I")
_KINDS = {"HFST_OL": False, "HFST_OLW": True}
_MOST_SYMBOLS = 0xFFF0
_MOST_ROUNDS = 1000


@dataclass(frozen=True)
class Layout:
    """A sound file: where its tables are, and what was found in them."""

    model: Model
    alphabet: Alphabet
    flags: Flags
    weighted: bool
    counts_start: int
    """Offset behind the header, where the counts are."""
    index_start: int
    """Offset of the index table in the content."""
    index_rows: int
    arcs_start: int
    """Offset of the transition table."""
    arc_rows: int
    acceptor: bool
    """True where no arc writes anything but what it reads: there are no analyses."""
    cyclic: bool
    """True where a path can come back to its state without reading a letter, so that it may not end."""

    @property
    def arc_bytes(self) -> int:
        return 12 if self.weighted else 8

    def with_own_header(self) -> bytes:
        """Return the content under a header that says its kind and nothing else.

        Native engines read the makers' header for names and properties that no look-up needs.
        """
        kind = b"HFST_OLW" if self.weighted else b"HFST_OL"
        properties = b"version\x003.3\0type\0" + kind + b"\0"
        length = len(properties).to_bytes(2, "little")
        return b"HFST\0" + length + b"\0" + properties + self.model.content[self.counts_start :]


def check_layout(model: Model) -> Layout:
    """Check a file; AnalyserError says what is wrong with it."""
    start = _after_header(model)
    if start + _COUNTS.size > len(model.content):
        raise model.invalid("is no optimized-lookup analyser, or is cut off: copy it again")
    inputs, symbols, index_rows, arc_rows, _, _, *properties = _COUNTS.unpack_from(model.content, start)
    weighted = properties[0]
    if weighted not in {0, 1} or not 0 < inputs <= symbols <= _MOST_SYMBOLS or not index_rows:
        raise model.invalid("is no HFST optimized-lookup analyser (convert with “hfst-fst2fst -O”)")
    if not set(properties) <= {0, 1}:
        raise model.invalid("is damaged: a property in its header is neither 0 nor 1. Copy it again")
    names, index_start = _symbols(model, start + _COUNTS.size, symbols)
    arcs_start = index_start + 6 * index_rows
    size = arcs_start + (12 if weighted else 8) * arc_rows
    if size != len(model.content):
        raise model.invalid(
            f"is damaged: {len(model.content):,} bytes where its header promises {size:,}. Copy it again"
        )
    index = np.frombuffer(model.content, _INDEX, index_rows, index_start)
    arcs = np.frombuffer(model.content, _ARC[bool(weighted)], arc_rows, arcs_start)
    # A state is a row and those of its letters behind it, so its last row must be inside as well.
    _check_index(model, index, symbols, arc_rows)
    _check_arcs(model, arcs, symbols, index_rows - inputs)
    flags = Flags(names)
    alphabet = Alphabet(names, inputs)
    real = arcs[arcs["reads"] != NO_SYMBOL]
    silent = np.array([not symbol for symbol in alphabet.shown])
    reads, writes = real["reads"], real["writes"]
    is_acceptor = bool(((reads == writes) | (silent[reads] & silent[writes])).all())
    return Layout(
        model, alphabet, flags, bool(weighted), start, index_start, index_rows, arcs_start, arc_rows,
        acceptor=is_acceptor, cyclic=_is_cyclic(index, arcs, flags),
    )  # fmt: skip


_INDEX = np.dtype([("symbol", "<u2"), ("target", "<u4")])
_ARC = {
    False: np.dtype([("reads", "<u2"), ("writes", "<u2"), ("target", "<u4")]),
    True: np.dtype([("reads", "<u2"), ("writes", "<u2"), ("target", "<u4"), ("weight", "<f4")]),
}
_Rows = npt.NDArray[np.void]


def _after_header(model: Model) -> int:
    """Return the offset behind the optional header; refuse the other kinds of HFST files by name."""
    content = model.content
    if not content.startswith(b"HFST\0"):
        return 0
    length = int.from_bytes(content[5:7], "little")
    end = 8 + length
    if len(content) < end or content[7] != 0:
        raise model.invalid("is damaged: its header is cut off. Copy it again")
    try:
        parts = content[8:end].decode("utf-8").split("\0")
    except UnicodeDecodeError:
        raise model.invalid("is damaged: its header is not UTF-8. Copy it again") from None
    if parts.pop() or len(parts) % 2:
        raise model.invalid("is damaged: its header is not made of names and values. Copy it again")
    name = dict(zip(parts[::2], parts[1::2], strict=True)).get("type", "?")
    if name not in _KINDS:
        raise model.invalid(
            f"holds an HFST transducer of another kind ({name[:30]!r}): convert it with “hfst-fst2fst -O”"
        )
    return end


def _symbols(model: Model, start: int, count: int) -> tuple[list[str], int]:
    """Read the symbols, each ended by NUL; gives the offset behind them too."""
    symbols = []
    for _ in range(count):
        end = model.content.find(b"\0", start)
        if end < 0:
            raise model.invalid("is damaged: its symbols are cut off. Copy it again")
        try:
            symbols.append(model.content[start:end].decode("utf-8"))
        except UnicodeDecodeError:
            raise model.invalid("has symbols that are not UTF-8: copy it again") from None
        start = end + 1
    return symbols, start


def _check_index(model: Model, index: _Rows, symbols: int, arc_rows: int) -> None:
    """Refuse rows whose arcs would lie outside the transition table."""
    symbol, target = index["symbol"], index["target"]
    arcs = symbol != NO_SYMBOL
    row = target - np.uint32(IN_TRANSITIONS)
    if bool((arcs & ((symbol >= symbols) | (row >= arc_rows))).any()):
        raise model.invalid("is damaged: its index leads outside its table. Copy it again")


def _check_arcs(model: Model, arcs: _Rows, symbols: int, index_states: int) -> None:
    """Refuse arcs that lead outside the tables, and a table that does not end.

    ``index_states`` is how many rows of the index table may be a state.
    """
    reads, writes, target = arcs["reads"], arcs["writes"], arcs["target"]
    real = reads != NO_SYMBOL
    inside = target.astype(np.int64) < index_states
    row = target.astype(np.int64) - IN_TRANSITIONS
    in_table = (row >= 0) & (row + 1 < len(arcs))
    wrong = (reads >= symbols) | (writes >= symbols) | ~(inside | in_table)
    endless = bool(len(arcs)) and bool(real[-1])
    if endless or index_states < 1 or bool((real & wrong).any()):
        raise model.invalid("is damaged: its arcs lead outside its table. Copy it again")


def _is_cyclic(index: _Rows, arcs: _Rows, flags: Flags) -> bool:
    """Remove, again and again, what leads nowhere without a letter; what remains is a cycle.

    A run of neighbouring arcs that read no letter counts as one state's. That may find a cycle too many
    in a strange file, never one too few; so does giving up after many rounds.
    """
    silent = _among(arcs["reads"], [0, *flags.by_symbol], NO_SYMBOL)
    rows = np.flatnonzero(silent)
    run = np.cumsum(np.diff(silent, prepend=False) & silent)
    onward = _first_silent(index, arcs["target"][rows], silent)
    sources, targets = run[rows][onward >= 0], run[onward[onward >= 0]]
    for _ in range(_MOST_ROUNDS):
        goes_on = _among(targets, sources, len(arcs))
        if goes_on.all():
            break
        sources, targets = sources[goes_on], targets[goes_on]
    return len(targets) > 0


def _among(numbers: npt.NDArray[Any], wanted: npt.NDArray[Any] | list[int], most: int) -> npt.NDArray[np.bool_]:
    """Return for each number from 0 to ``most`` whether it is wanted; numpy's own ``isin`` loads masked arrays for it."""
    table = np.zeros(most + 1, dtype=np.bool_)
    table[wanted] = True
    values: npt.NDArray[np.bool_] = table[numbers]
    return values


def _first_silent(
    index: _Rows, targets: npt.NDArray[np.uint32], silent: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Return the row of the first arc without a letter of each target state; −1 where it has none."""
    values = targets.astype(np.int64) - IN_TRANSITIONS + 1
    by_index = targets < IN_TRANSITIONS
    slot = index[targets[by_index] + 1]
    first = slot["target"].astype(np.int64) - IN_TRANSITIONS
    values[by_index] = np.where(slot["symbol"] == 0, first, -1)
    values[~silent[values]] = -1
    return values
