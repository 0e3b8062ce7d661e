"""Analysers for tests: small ones written byte by byte here, and the real ones where they are."""

import random
import struct
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from harness.fst.builtin import BuiltinEngine
from harness.fst.layout import Layout, check_layout
from harness.fst.model import installed_engines, read_model
from tests.outside import STRICT, only_with

real = only_with(STRICT)

ENGINES = ("builtin", "hfst-optimized-lookup", "hfst", "pyhfst")


def needs(engine: str) -> None:
    if engine not in installed_engines():
        pytest.skip(f"{engine} is not installed")


Arc = tuple[int, str, str, int]
"""From, reads, writes, to; "" is epsilon."""

EPSILON = "@_EPSILON_SYMBOL_@"


def written(arcs: Iterable[Arc], finals: Iterable[int], *, weighted: bool = False, header: bool = True) -> bytes:
    """Write an optimized-lookup file in which every state is a state of the index table."""
    listed = [(a, reads or EPSILON, writes or EPSILON, b) for a, reads, writes, b in arcs]
    letters = sorted({r for _, r, _, _ in listed if not r.startswith("@")})
    rest = sorted({s for _, r, w, _ in listed for s in (r, w)} - {EPSILON, *letters})
    symbols = [EPSILON, *letters, *rest]
    number = {symbol: place for place, symbol in enumerate(symbols)}
    inputs = 1 + len(letters)
    states = 1 + max([0, *finals, *(max(a, b) for a, _, _, b in listed)])
    size = 1 + inputs
    index = [(0xFFFF, 0xFFFFFFFF)] * (size * (states + 1))
    rows = [(0xFFFF, 0xFFFF, 0xFFFFFFFF)]
    slots: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for a, r, w, b in listed:
        slot = 0 if r.startswith("@") else number[r]
        slots[a, slot].append((number[r], number[w], size * b))
    for final in finals:
        index[size * final] = (0xFFFF, 0 if weighted else 1)
    for (state, slot), found in slots.items():
        index[size * state + 1 + slot] = (slot, 0x80000000 + len(rows))
        rows += [*found, (0xFFFF, 0xFFFF, 0xFFFFFFFF)]
    counts = (inputs, len(symbols), len(index), len(rows), states, len(listed))
    content = b""
    if header:
        properties = f"version\0003.3\0type\0HFST_OL{'W' if weighted else ''}\0".encode()
        content = b"HFST\0" + struct.pack("<H", len(properties)) + b"\0" + properties
    content += struct.pack("<HH4I9I", *counts, int(weighted), *([0] * 8))
    content += b"".join(symbol.encode() + b"\0" for symbol in symbols)
    content += b"".join(struct.pack("<HI", *row) for row in index)
    weight = struct.pack("<f", 0.0) if weighted else b""
    return content + b"".join(struct.pack("<HHI", *row) + weight for row in rows)


def layout_of(path: Path) -> Layout:
    return check_layout(read_model(path))


def spelt_by(layout: Layout, count: int, seed: int = 5) -> list[str]:
    """Find words that an analyser accepts, by walking through it at random."""
    engine, choice = BuiltinEngine(layout), random.Random(seed)
    start = next(iter(engine._layers[0]))  # where the engine begins a word
    # the walk goes where the engine itself may go
    ends, reach, moves = engine._ends, engine._reach, engine._moves
    found: dict[str, None] = {}
    while len(found) < count:
        place, word = start, ""
        while len(word) < 24:
            if ends(place) and choice.random() < 0.3:
                found[word] = None
                break
            reach(place)
            if not place.letters:
                break
            letter = choice.choice(sorted(place.letters))
            _, place = choice.choice(moves(place, letter))
            word += layout.alphabet.symbols[letter]
    return [word for word in found if word]


def mutated(words: Iterable[str], letters: str, seed: int = 7) -> list[str]:
    """Change, drop or double a letter of each word, or put a foreign one in."""
    choice = random.Random(seed)
    found = []
    for word in words:
        at = choice.randrange(len(word))
        middle = choice.choice(["", word[at] * 2, choice.choice(letters), "-", "ß"])
        found.append(word[:at] + middle + word[at + 1 :])
    return found
