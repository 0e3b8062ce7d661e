"""Long lists in memory: what is read is what was added, and what may not be written stays as it is."""

from pathlib import Path

import pytest

from corpora.checks.entries import PlacedEntry
from corpora.files import packed_list, places
from corpora.files.packed_list import HashSet, ListPart, PackedList, PlaceMap, in_blocks
from corpora.files.places import without_gaps
from corpora.files.problems import CorpusError
from corpora.formats import load as load_module
from corpora.formats.load import load
from corpora.model.corpus import RawEntry
from corpora.model.entry import (
    Entry,
    SecretEntry,
    Segment,
    only_open,
    reveal_here,
    seal_secret,
    seal_secrets,
    secrets_among,
)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_list, "PLAIN", 64)
    monkeypatch.setattr(places, "MANY", 64)


def entry(number: int, segment: Segment = Segment.DEVELOPMENT) -> Entry:
    fields = {"id": number, "source": f"s{number}", "reference": "r", "variants": ("a", "b"), "segment": segment}
    return Entry.model_validate({**fields, "further": {"list": [1, 2.5, None, True], "large": 2**63}})


def test_packed_list_gives_what_was_added() -> None:
    entries = [entry(number) for number in range(150)]
    placed = [PlacedEntry(number, one, None) for number, one in enumerate(entries)]
    raw = [RawEntry({"id": number, "source": "\ud800" if number == 70 else "s"}, number) for number in range(150)]
    things = (entries, placed, raw, [(number, "t", frozenset("x")) for number in range(150)], [{"a": [1]}] * 150)
    for items in things:
        packed = PackedList(items)
        assert (len(packed), list(packed), packed[149], packed[-150], packed[3:150:50]) == (
            150, items, items[149], items[0], items[3:150:50],
        )  # fmt: skip
        assert packed == items
        assert packed != items[1:]
        assert list(map(type, packed)) == list(map(type, items))
    packed_entries = PackedList(entries)
    assert packed_entries[5] is not entries[5], "it was packed"
    assert packed_entries[5].model_fields_set == entries[5].model_fields_set
    assert packed_entries[5].segment is Segment.DEVELOPMENT
    with pytest.raises(IndexError):
        packed_entries[150]


def test_secret_entries_are_never_written() -> None:
    entries = [entry(number, Segment.GOLD_STANDARD) for number in range(150)]
    packed = PackedList(entries)
    assert all(mine is its for mine, its in zip(packed, entries, strict=True))
    assert list(packed.unpacked) == entries
    mixed = PackedList(
        entry(place, Segment.GOLD_STANDARD if place == 70 else Segment.DEVELOPMENT) for place in range(150)
    )
    assert [found.id for found in secrets_among(mixed)] == [70]
    assert len(list(mixed.unpacked)) < 150
    assert only_open(mixed) == [*mixed[:70], *mixed[71:]]
    assert [type(found) is SecretEntry for found in seal_secrets(mixed)] == [place == 70 for place in range(150)]
    opened = PackedList(map(entry, range(150)))
    assert seal_secrets(opened) is only_open(opened) is reveal_here(opened) is opened
    sealed = PackedList(map(seal_secret, entries))
    assert reveal_here(sealed) == entries
    assert "s1" not in repr(sealed)


def test_place_map_has_items_by_rising_places() -> None:
    items = PackedList("abc")
    placed = PlaceMap((2, 5, 9), items)
    assert dict(placed) == {2: "a", 5: "b", 9: "c"}
    assert 3 not in placed
    assert placed.at((2, 5, 9)).in_order is items
    assert dict(placed.at((5,))) == dict(PlaceMap((5,), "b")) == {5: "b"}
    assert dict(PlaceMap.of("ab")) == {0: "a", 1: "b"}
    assert without_gaps(tuple(range(3, 70))) == range(3, 70)
    gaps = (*range(70), 71)
    assert without_gaps(gaps) is gaps
    assert [list(block) for block in in_blocks(range(5), 2)] == [[0, 1], [2, 3], [4]]
    part = ListPart(items, (2, 0))
    assert (list(part), len(part), part[1], list(part[1:])) == (["c", "a"], 2, "a", ["a"])


def test_hash_set_knows_what_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_list, "RECENT", 3)
    known = HashSet()
    assert [known.add(text) for text in "abcabcdefghda"] == [*[True] * 3, *[False] * 3, *[True] * 5, False, False]
    assert len(known) == 8


def test_large_jsonl_is_read_line_by_line_as_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "corpus.jsonl"
    head = '\ufeff{"dataset": {"id": "x", "source_language": "en", "target_language": "eo"}}\n'
    lines = [f'{{"id": {number}, "src": "Dog {number}é", "reference": "hundo {number}"}}\r\n' for number in range(200)]
    file.write_text(head + "".join(lines), "utf-8", newline="")
    whole = load(file)
    monkeypatch.setattr(load_module, "WHOLE", 64)
    assert load(file) == whole
    assert whole.lines == range(2, 202)
    file.write_bytes(file.read_bytes() + b'\xff\n{"id": 1, "source": "a\x00"}\n')
    with pytest.raises(CorpusError) as caught:
        load(file)
    assert [(problem.line, problem.message[:6]) for problem in caught.value.problems] == [
        (202, "Broken"),
        (203, "There "),
    ]
