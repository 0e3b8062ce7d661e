"""Every engine gives the same verdicts, on real analysers and on small ones that show one thing each."""

import re
from functools import cache
from pathlib import Path

import pytest

from harness.fst import builtin
from harness.fst.analyser import Analyser, installed_engines, open_analyser
from harness.fst.builtin import MOST_ANALYSES
from harness.fst.layout import MOST_LETTERS
from harness.fst.model import MOST_BYTES, AnalyserError, FstStatus
from tests.harness.fst.making import ENGINES, layout_of, mutated, needs, real, spelt_by, written
from tests.harness.sealed.refusals import refuses
from tests.outside import DESCRIPTIVE, ENGLISH, RUSSIAN, STRICT, published
from tests.review.thorough import first

KNOWN = ("niwâpamâw", "atim", "tânisi", "êkosi", "kinanâskomitin", "awâsisak")
"""Accepted by both analysers; from the README beside them."""

FLAGS = [
    # an ending that needs its prefix, in each of the six operators
    (0, "@P.p.x@", "@P.p.x@", 1), (1, "a", "A", 2), (2, "@R.p.x@", "@R.p.x@", 3), (3, "1", "+R", 9),
    (0, "a", "A", 4), (4, "@R.p@", "@R.p@", 3),
    (0, "@N.q.x@", "@N.q.x@", 5), (5, "b", "B", 6), (6, "@D.q.x@", "@D.q.x@", 7), (7, "2", "+D", 9),
    (6, "@U.q.y@", "@U.q.y@", 8), (8, "3", "+U", 9), (8, "@U.q.x@", "@U.q.x@", 3),
    (6, "@C.q@", "@C.q@", 10), (10, "@D.q@", "@D.q@", 11), (11, "4", "+C", 9),
]  # fmt: skip


@real
@pytest.mark.parametrize("engine", ENGINES)
def test_known_words(engine: str) -> None:
    needs(engine)
    strict, descriptive = open_analyser(STRICT, engine), open_analyser(DESCRIPTIVE, engine)
    for analyser in (strict, descriptive):
        assert all(accepted for accepted, _ in analyser.analyse(KNOWN))
        assert not analyser.acceptor
    bad = ("niwapamaw", "awasisak", "xyzzy", "walking-plough", "Niwâpamâw", "", "atim\0", "a\0b")
    assert strict.analyse(bad) == [(False, ())] * len(bad)
    assert [a for a, _ in descriptive.analyse(bad[:4])] == [True, True, False, False]
    assert strict.analyse(["niwâpamâw"]) == [(True, ("wâpamêw+V+TA+Ind+1Sg+3SgO",))]
    assert strict.analyse(["atim", "tânisi"]) == [
        (True, ("atim+N+A+Sg", "atimêw+V+TA+Imp+Imm+2Sg+3SgO")),
        (True, ("tânisi+Ipc", "tânisi+Ipc+Interj")),
    ]


@real
@pytest.mark.parametrize("engine", first(1, ["builtin", "hfst", "pyhfst"]))
def test_weighted_and_packed(engine: str) -> None:
    needs(engine)
    analyser = open_analyser(RUSSIAN, engine)
    verdicts = analyser.analyse(["слово", "слова", "xyzzy", "словоо"])
    assert [accepted for accepted, _ in verdicts] == [True, True, False, False]
    assert {"слово+N+Neu+Inan+Sg+Nom", "слово+N+Neu+Inan+Sg+Acc"} <= set(verdicts[0][1])


@cache
def accepted_words(path: Path) -> list[str]:
    return spelt_by(layout_of(path), 2500)


@cache
def built_in(path: Path) -> Analyser:
    return open_analyser(path, "builtin")


@real
@pytest.mark.thorough
@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize("path", [STRICT, DESCRIPTIVE, RUSSIAN], ids=lambda path: path.name[:9])
def test_engines_agree_on_ten_thousand_words(engine: str, path: Path) -> None:
    needs(engine)
    if path is RUSSIAN and engine == "hfst-optimized-lookup":
        pytest.skip("it cannot read weights")
    cyrillic = path is RUSSIAN
    text = published("ukr") if cyrillic else ENGLISH
    found = set(re.findall(r"[\w-]+", text.read_text("utf-8")))
    words = [*accepted_words(path), *sorted(found)[::3][:2500]]
    words += mutated(words, "ыщбя" if cyrillic else "âêtš")
    ours, theirs = built_in(path).analyse(words), open_analyser(path, engine).analyse(words)
    assert sum(accepted for accepted, _ in ours) >= 2500
    differing = [word for word, a, b in zip(words, ours, theirs, strict=True) if a != b]
    assert differing == []


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_flag_diacritics(tmp_path: Path, engine: str, weighted: bool, header: bool) -> None:
    needs(engine)
    if weighted and engine == "hfst-optimized-lookup":
        pytest.skip("it cannot read weights")
    if not header and engine in {"hfst", "pyhfst"}:
        pytest.skip("it reads only files that name their kind")
    path = tmp_path / "flags.hfstol"
    path.write_bytes(written(FLAGS, [9], weighted=weighted, header=header))
    if engine == "pyhfst":
        refuses(AnalyserError, "flag diacritics that pyhfst misreads", open_analyser, path, engine)
        return
    verdicts = open_analyser(path, engine).analyse(["a1", "b1", "b2", "b3", "b4", "a2", "a"])
    told = [analyses for accepted, analyses in verdicts if accepted or not analyses]
    assert told == [("A+R",), (), ("B+D",), ("B+U",), ("B+C",), (), ()]
    assert [accepted for accepted, _ in verdicts] == [bool(each) for each in told]


def opened(folder: Path, arcs: list[tuple[int, str, str, int]], finals: list[int], engine: str = "") -> Analyser:  # fmt: skip
    """Write a small analyser and open it; an engine that is not installed skips the test."""
    if engine:
        needs(engine)
    (folder / "small.hfstol").write_bytes(written(arcs, finals))
    return open_analyser(folder / "small.hfstol", *([engine] if engine else []))


@pytest.mark.parametrize("engine", ENGINES)
def test_longest_symbol_and_unknown_letters_are_read(tmp_path: Path, engine: str) -> None:
    analyser = opened(
        tmp_path, [(0, "ch", "ch", 1), (0, "c", "c", 2), (2, "h", "+X", 1)], [1], engine
    )
    assert analyser.analyse(["ch", "c", "chz"]) == [(True, ("ch",)), (False, ()), (False, ())]
    analyser = opened(tmp_path, [(0, "a", "a", 1), (1, "", "+N", 2)], [2], engine)
    assert analyser.analyse(["a", "ab", "a a", "a\0"]) == [(True, ("a+N",)), *[(False, ())] * 3]
    arcs = [(0, "@P.x.y@", "@P.x.y@", 3), (3, "a", "a", 1), (1, "b", "b", 1)]
    acceptor = opened(tmp_path, arcs, [1], engine)  # which has no analyses
    assert acceptor.acceptor
    assert acceptor.analyse(["abb", "b"]) == [(True, ()), (False, ())]


@pytest.mark.parametrize(("arcs", "words"), [
    ([(0, "a", "A", 1), (1, "", "+x", 1)], {"a": ("A",)}),
    ([(0, "a", "A", 1), (1, "", "+x", 2), (2, "", "+y", 1)], {"a": ("A",)}),
    ([(0, "a", "A", 1), (1, "@P.f.v@", "@P.f.v@", 1)], {"a": ("A",)}),
    ([(0, "", "", 0), (0, "a", "A", 1)], {"a": ("A",), "aa": None}),
], ids=["loop", "ring", "flag", "start"])  # fmt: skip
def test_cycles_end(tmp_path: Path, arcs: list[tuple[int, str, str, int]], words: dict[str, int]) -> None:  # fmt: skip
    analyser = opened(tmp_path, arcs, [1])
    assert analyser.engine == "builtin"
    for word, analyses in words.items():
        [(accepted, found)] = analyser.analyse([word])
        assert (accepted, found) == (analyses is not None, analyses or ())
    for engine in ENGINES[1:]:
        error = refuses(AnalyserError, "cycle", open_analyser, tmp_path / "small.hfstol", engine)
        assert error.status is FstStatus.ENGINE_ERROR


def test_too_many_ways_end_with_a_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of sixteen flags may be set or not, all in one cycle: 65,536 places without a letter."""
    arcs = [(0, f"@P.f{n}.v@", f"@P.f{n}.v@", 0) for n in range(16)] + [(0, "a", "a", 1)]
    monkeypatch.setattr(builtin, "MOST_PLACES", 2_000)
    words, analyser = r"small\.hfstol does not come to an end", opened(tmp_path, arcs, [1])
    assert refuses(AnalyserError, words, analyser.analyse, ["a"]).status is FstStatus.ENGINE_ERROR


def test_an_ambiguous_word_is_accepted_and_its_analyses_bounded(tmp_path: Path) -> None:
    arcs = [(n, "a", written_, n + 1) for n in range(40) for written_ in ("x", "y")]
    [(accepted, analyses)] = opened(tmp_path, arcs, [40]).analyse(["a" * 40])
    assert accepted
    assert len(analyses) == 1000
    assert analyses[0] == "x" * 40


@pytest.mark.thorough
@real
def test_a_full_memory_is_cleared_and_changes_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    words = accepted_words(STRICT)[:300]
    expected = open_analyser(STRICT, "builtin").analyse(words)
    monkeypatch.setattr(builtin, "MOST_REMEMBERED", 500)
    small = open_analyser(STRICT, "builtin")
    assert small.analyse(words) == expected
    assert all(accepted for accepted, _ in expected)


def test_built_in_engine_reads_where_none_is_named(tmp_path: Path) -> None:
    analyser = opened(tmp_path, [(0, "a", "A", 1)], [1])
    assert (analyser.engine, analyser.engine_version) == ("builtin", installed_engines()["builtin"])
    assert next(iter(installed_engines())) == "builtin"
    refuses(AnalyserError, "'foma' is not known", open_analyser, tmp_path / "small.hfstol", "foma")


ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "fst.md").read_text("utf-8")


def first_cells(title: str) -> list[str]:
    table = re.search(rf"\| {title} \|.*\n((?:\|.*\n)+)", PAGE)
    return re.findall(r"^\| `([^`]+)` \|", table[1], re.MULTILINE)


def test_page_tells_statuses_engines_limits_and_links() -> None:
    assert first_cells("status") == list(FstStatus)
    assert first_cells("engine") == list(ENGINES)
    assert f"{MOST_BYTES >> 20} MB" in PAGE
    assert f"{MOST_LETTERS} letters" in PAGE
    assert f"{MOST_ANALYSES:,} analyses" in PAGE
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists(), target
