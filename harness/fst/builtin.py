"""The built-in engine: looks words up in an optimized-lookup file, in pure Python and on every platform.

A *place* is a state together with the values of its flag diacritics. All paths of a word are followed at
once, letter by letter, so that paths which come together are gone only once; what a place leads to is
remembered, so that later words find it worked out.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from itertools import takewhile

from harness.fst.layout import IN_TRANSITIONS, NO_SYMBOL, NO_TARGET, Layout, Values
from harness.fst.model import BUILTIN, BUILTIN_VERSION, AnalyserError, FstStatus

MOST_PLACES = 20_000
"""Places that one letter of a word may lead to; real analysers stay under a few hundred."""

MOST_ANALYSES = 1_000
"""Analyses that are kept of a word: the first in alphabetical order. Acceptance does not depend on it."""

MOST_REMEMBERED = 120_000
"""Places that are remembered before the memory is cleared: some 130 MB."""


class _State:
    __slots__ = ("arcs", "final", "silent")

    def __init__(self, *, final: bool) -> None:
        self.final = final
        self.silent: list[tuple[int, str, int]] = []
        """Arcs that read no letter: their symbol, what they write, their target."""
        self.arcs: dict[int, list[tuple[str, int]]] = {}
        """Letter → what is written, target."""


class _Held:
    """Values of the flag diacritics on a path: what later flags make of them, and where they are held."""

    __slots__ = ("after", "places", "values")

    def __init__(self, values: Values) -> None:
        self.values = values
        self.after: dict[int, _Held | None] = {}
        """Flag's symbol → values behind it; None: the path ends there."""
        self.places: dict[int, _Place] = {}
        """State's number → the place with these values."""


class _Place:
    """A state reached with certain values, and what is known of where it leads."""

    __slots__ = ("ends", "letters", "moves", "reach", "state", "values")

    def __init__(self, state: _State, values: _Held) -> None:
        self.state = state
        self.values = values
        self.reach: tuple[_Step, ...] | None = None
        """Places that no letter parts from it, with what is written on the way; itself among them."""
        self.letters: Collection[int] = ()
        """Letters that some place in reach can read."""
        self.ends: tuple[str, ...] | None = None
        """What is written up to each place in reach where a word may end."""
        self.moves: dict[int, tuple[_Step, ...]] = {}
        """Letter → places behind it."""


_Step = tuple[str, _Place]
_Layer = dict[_Place, list[_Step]]
"""Places that the first letters of a word lead to, each with what led there."""


class BuiltinEngine:
    """Finds the analyses of words that are given as symbol numbers."""

    name = BUILTIN
    version = BUILTIN_VERSION

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._shown = layout.alphabet.shown
        self._flags = layout.flags
        self._states: dict[int, _State] = {}
        self._held: dict[Values, _Held] = {}
        self._forget()

    def _forget(self) -> None:
        """Start with an empty memory; decoded states are kept, they are bounded by the file.

        Places that lead to each other are separated, so that they are freed without the garbage collector.
        """
        for held in self._held.values():
            for place in held.places.values():
                place.reach = None
                place.moves.clear()
        self._held = {}
        self._remembered = 0
        self._spelt: list[int] = []
        start = self._place(0, self._holding(self._flags.start))
        self._layers: list[_Layer] = [{start: []}]

    def analyse(self, word: str, letters: list[int]) -> tuple[str, ...] | None:  # noqa: ARG002
        """Return the analyses of a word in order, None where it is rejected.

        AnalyserError with ``engine_error`` where the file leads to more places than any language needs.
        """
        if self._remembered > MOST_REMEMBERED:
            self._forget()
        self._follow(letters)
        if len(self._spelt) < len(letters):
            return None
        ends_of_places = {place: set(ends) for place in self._layers[-1] if (ends := self._ends(place))}
        if not ends_of_places:
            return None
        return () if self._layout.acceptor else self._written(ends_of_places)

    def _follow(self, letters: list[int]) -> None:
        """Make one layer for each letter, from where the word parts from the last one."""
        pairs = zip(self._spelt, letters, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        del self._layers[shared + 1 :]
        del self._spelt[shared:]
        for letter in letters[shared:]:
            layer = self._after(self._layers[-1], letter)
            if not layer:
                return
            self._layers.append(layer)
            self._spelt.append(letter)

    def _after(self, layer: _Layer, letter: int) -> _Layer:
        places: _Layer = {}
        for place in layer:
            moves = place.moves.get(letter)
            if moves is None:
                if place.reach is None:
                    self._reach(place)
                if letter not in place.letters:
                    continue
                moves = self._moves(place, letter)
            for text, behind in moves:
                places.setdefault(behind, []).append((text, place))
        if len(places) > MOST_PLACES:
            raise self._endless()
        return places

    def _moves(self, place: _Place, letter: int) -> tuple[_Step, ...]:
        moves = place.moves[letter] = tuple(
            {
                (text + written, self._place(target, here.values)): None
                for text, here in self._reach(place)
                for written, target in here.state.arcs.get(letter, ())
            }
        )
        return moves

    def _written(self, ends: dict[_Place, set[str]]) -> tuple[str, ...]:
        """Walk back from where the word ends, so that only paths that reached an end are spelt out."""
        for layer in reversed(self._layers[1:]):
            before: dict[_Place, set[str]] = {}
            for place, endings in ends.items():
                for text, origin in layer[place]:
                    more = {text + ending for ending in endings} if text else endings
                    before.setdefault(origin, set()).update(more)
            ends = {
                place: endings if len(endings) <= MOST_ANALYSES else set(sorted(endings)[:MOST_ANALYSES])
                for place, endings in before.items()
            }
        return tuple(sorted(set().union(*ends.values())))

    def _ends(self, place: _Place) -> tuple[str, ...]:
        if place.ends is None:
            place.ends = tuple(text for text, here in self._reach(place) if here.state.final)
        return place.ends

    def _reach(self, place: _Place) -> tuple[_Step, ...]:
        """Follow all arcs that read no letter; a path that comes back to where it was continues no more."""
        if place.reach is not None:
            return place.reach
        if not place.state.silent:
            place.letters = place.state.arcs
            place.reach = (("", place),)
            return place.reach
        steps: dict[_Step, None] = {("", place): None}
        open_paths: list[tuple[str, tuple[_Place, ...]]] = [("", (place,))]
        while open_paths:
            text, path = open_paths.pop()
            for symbol, written, target in path[-1].state.silent:
                values = self._after_flag(path[-1].values, symbol) if symbol else path[-1].values
                if values is None or (behind := self._place(target, values)) in path:
                    continue
                step = (text + written, behind)
                if step not in steps:
                    steps[step] = None
                    open_paths.append((step[0], (*path, behind)))
            if len(steps) > MOST_PLACES:
                raise self._endless()
        place.reach = tuple(steps)
        place.letters = {letter for _, here in place.reach for letter in here.state.arcs}
        return place.reach

    def _after_flag(self, held: _Held, symbol: int) -> _Held | None:
        if symbol not in held.after:
            values = self._flags.after(held.values, self._flags.by_symbol[symbol])
            held.after[symbol] = None if values is None else self._holding(values)
        return held.after[symbol]

    def _holding(self, values: Values) -> _Held:
        if values not in self._held:
            self._held[values] = _Held(values)
        return self._held[values]

    def _place(self, state: int, held: _Held) -> _Place:
        place = held.places.get(state)
        if place is None:
            decoded = self._states.get(state) or self._decoded(state)
            place = held.places[state] = _Place(decoded, held)
            self._remembered += 1
        return place

    def _decoded(self, number: int) -> _State:
        if number < IN_TRANSITIONS:
            state = self._by_index(number)
        else:  # of the transition table: a row for the state, then its arcs
            row = number - IN_TRANSITIONS
            reads, writes, target = self._arc(row)
            state = _State(final=reads == NO_SYMBOL and writes == NO_SYMBOL and target == 1)
            self._add_arcs(state, row + 1, None)
        self._states[number] = state
        return state

    def _by_index(self, row: int) -> _State:
        """Decode a state of the index table: one row for the state, one for each letter it may read."""
        layout = self._layout
        start = layout.index_start + 6 * row
        rows = memoryview(layout.model.content)[start : start + 6 * (1 + layout.alphabet.inputs)]
        (symbol, target), *slots = struct.iter_unpack("<HI", rows)
        state = _State(final=symbol == NO_SYMBOL and target != NO_TARGET)
        for letter, (reads, first) in enumerate(slots):
            if reads == letter:
                self._add_arcs(state, first - IN_TRANSITIONS, letter)
        return state

    def _add_arcs(self, state: _State, row: int, letter: int | None) -> None:
        """Add the arcs from a row on that read ``letter``; 0: no letter; None: all of the state."""
        while True:
            reads, writes, target = self._arc(row)
            silent = reads == 0 or reads in self._flags.by_symbol
            if reads == NO_SYMBOL or (letter is not None and (0 if silent else reads) != letter):
                return
            if silent:
                state.silent.append((reads, self._shown[writes], target))
            else:
                state.arcs.setdefault(reads, []).append((self._shown[writes], target))
            row += 1

    def _arc(self, row: int) -> tuple[int, int, int]:
        offset = self._layout.arcs_start + self._layout.arc_bytes * row
        reads, writes, target = _ARC.unpack_from(self._layout.model.content, offset)
        return reads, writes, target

    def _endless(self) -> AnalyserError:
        return AnalyserError(
            FstStatus.ENGINE_ERROR,
            f"Analyser {self._layout.model.name} does not come to an end: it has more than "
            f"{MOST_PLACES:,} ways to read one letter. Ask its makers for a version without cycles.",
        )


_ARC = struct.Struct("<HHI")
