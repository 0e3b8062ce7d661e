"""The FST annotator: which words are looked up, in which forms, how often, and what is kept of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.languages.language import WritingSystem
from corpora.model.entry import Entry, Segment
from harness.annotators.fst import FstAnnotator
from harness.fst.analyser import Analyser, open_analyser
from scoring.core.translation import Acceptance, Translation, WordAnalysis
from tests.harness.fst.making import real, written
from tests.outside import STRICT

CREE = WritingSystem(
    letters="a c e h i k m n o p s t w y â ê î ô",
    cased=False,
    normalisation=(("ā", "â"), ("ē", "ê"), ("ī", "î"), ("ō", "ô"), ("’", "'")),
)


class Notebook:
    """A memo in the working memory that counts how often it is asked."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, bytes]] = {}
        self.asked: list[str] = []

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        known = self.kept.get(maker, {})
        self.asked += keys or ()
        return {key: known[key] for key in (known if keys is None else keys) if key in known}

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        self.kept.setdefault(maker, {}).update(found)

    @property
    def words(self) -> set[str]:
        return {word for found in self.kept.values() for word in found}


class Counting(Analyser):
    """A real analyser that remembers what it was asked."""

    asked: list[str]

    def analyse(self, words: Sequence[str]) -> list[tuple[bool, tuple[str, ...]]]:
        self.asked = [*getattr(self, "asked", []), *words]
        return super().analyse(words)


@pytest.fixture
def small(tmp_path: Path) -> Counting:
    """Accepts ``dog``, ``dogs``, ``Rex`` and ``câp``."""
    path = tmp_path / "small.hfstol"
    path.write_bytes(SMALL)
    analyser = open_analyser(path, "builtin")
    analyser.__class__ = Counting
    assert isinstance(analyser, Counting)
    return analyser


def spelling(start: int, word: str, tags: str, end: int = 99) -> list[tuple[int, str, str, int]]:
    arcs = [
        (0 if n == 0 else start + n, letter, letter, start + n + 1) for n, letter in enumerate(word)
    ]
    return [*arcs, (start + len(word), "", tags, end)]


SMALL = written(
    [
        *spelling(10, "dog", "+N"),
        *spelling(20, "dogs", "+N+Pl"),
        *spelling(30, "Rex", "+Prop"),
        *spelling(40, "câp", "+N"),
    ],
    [99],
)


def translation(output: str, reference: str = "", segment: Segment | None = None) -> Translation:
    return Translation(Entry(id=1, source="s", reference=reference, segment=segment), output)


def test_words_in_order_with_the_way_in_which_they_are_accepted(small: Counting) -> None:
    text = "Dog dogs REX Rex, cāp ca\u0302p; 12 3rd {dog} https://dog.org DOGS xyz"
    [found] = FstAnnotator(small, CREE).annotate([translation(text, "dog 7")])
    assert found.output == (
        WordAnalysis("Dog", Acceptance.LOWER_CASED, ("dog+N",)),
        WordAnalysis("dogs", Acceptance.AS_WRITTEN, ("dogs+N+Pl",)),
        WordAnalysis("REX", None),
        WordAnalysis("Rex", Acceptance.AS_WRITTEN, ("Rex+Prop",)),
        WordAnalysis("cāp", Acceptance.NORMALISED, ("câp+N",)),
        WordAnalysis("ca\u0302p", Acceptance.AS_WRITTEN, ("câp+N",)),
        WordAnalysis("3rd", None),
        WordAnalysis("DOGS", Acceptance.LOWER_CASED, ("dogs+N+Pl",)),
        WordAnalysis("xyz", None),
    )
    assert found.reference == (WordAnalysis("dog", Acceptance.AS_WRITTEN, ("dog+N",)),)


def test_words_are_lowered_before_a_card_normalises_them(small: Counting) -> None:
    [word] = FstAnnotator(small, CREE).analyse_words(["CĀP"])
    assert word == WordAnalysis("CĀP", Acceptance.NORMALISED, ("câp+N",))
    both = FstAnnotator(small).analyse_words(["cāp", "Dog"])
    assert [word.accepted for word in both] == [None, Acceptance.LOWER_CASED]
    [found] = FstAnnotator(small).annotate([translation("", "dog")])
    assert (found.output, len(found.reference)) == ((), 1)


def test_a_word_is_looked_up_once(small: Counting) -> None:
    annotator = FstAnnotator(small)
    annotator.annotate([translation("dog dog xyz", "dog"), translation("xyz dog")])
    annotator.annotate([translation("dog xyz")])
    assert sorted(small.asked) == ["dog", "xyz"]


def test_what_the_memo_knows_opens_no_analyser(small: Counting) -> None:
    memo = Notebook()
    first = FstAnnotator(small, CREE, memo)
    before = first.annotate([translation("Dog cāp xyz REX", "dogs")])
    assert not memo.kept
    first.close()
    assert "dogs" in memo.words

    def opener() -> Analyser:
        raise AssertionError("the memo knows all words")

    second = FstAnnotator(opener, CREE, memo, sha256=small.sha256)
    assert second.annotate([translation("Dog cāp xyz REX", "dogs")]) == before


def test_memo_keeps_no_card_s_spellings_or_another_file_s(small: Counting, tmp_path: Path) -> None:
    memo = Notebook()
    with_card = FstAnnotator(small, CREE, memo)
    with_card.analyse_words(["cāp"])
    with_card.close()
    [word] = FstAnnotator(small, None, memo).analyse_words(["cāp"])
    assert word.accepted is None
    memo = Notebook()
    FstAnnotator(small, None, memo).analyse_words(["dog"])
    path = tmp_path / "other.hfstol"
    path.write_bytes(written([(0, "c", "c", 1)], [1]))
    [word] = FstAnnotator(lambda: open_analyser(path), None, memo).analyse_words(["dog"])
    assert word.accepted is None


def test_damaged_findings_are_looked_up_again(small: Counting) -> None:
    memo = Notebook()
    annotator = FstAnnotator(small, None, memo)
    annotator.analyse_words(["dog", "dogs", "Rex"])
    annotator.close()
    [kept] = memo.kept.values()
    kept |= {"dog": b"\xc1", "dogs": b"\x92\x01\x02", "Rex": b""}
    found = FstAnnotator(small, None, memo).analyse_words(["dog", "dogs", "Rex"])
    assert all(word.accepted for word in found)


def test_words_of_secret_entries_reach_no_memo(small: Counting) -> None:
    for segment in (Segment.GOLD_STANDARD, Segment.HELD_OUT):
        memo = Notebook()
        annotator = FstAnnotator(small, CREE, memo)
        both = [translation("dogs Hidden", "Rex", segment), translation("dog dogs", "xyz")]
        assert annotator.annotate(both)[0].output[0].accepted
        annotator.close()
        assert memo.words == {"dog", "dogs", "xyz"}
        assert not {"Hidden", "hidden", "Rex"} & set(memo.asked)


def test_a_secret_word_is_kept_once_it_is_in_a_public_text(small: Counting) -> None:
    memo = Notebook()
    annotator = FstAnnotator(small, None, memo)
    annotator.annotate([translation("dog Rex", "", Segment.HELD_OUT)])
    annotator.annotate([translation("dog")])
    annotator.close()
    assert (memo.words, sorted(small.asked)) == ({"dog"}, ["Rex", "dog"])


@pytest.mark.thorough
@real
@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_any_text(output: str, reference: str) -> None:
    annotator = FstAnnotator(open_analyser(STRICT, "builtin"), CREE)
    [found] = annotator.annotate([translation(output, reference)])
    assert all(word.word in output for word in found.output)
    assert all(word.accepted or not word.analyses for word in (*found.output, *found.reference))
