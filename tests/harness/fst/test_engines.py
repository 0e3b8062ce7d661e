"""Every engine gives the same verdicts, on real analysers and on small ones that show one thing each."""

import gzip
import json
import os
import random
import re
import signal
import tomllib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from corpora.languages.cards import LanguageCard, WritingSystem
from corpora.languages.shipped.epo.build import ANALYSER, SOURCE, build
from corpora.text.tokens import words
from harness.annotators.fst import FstAnnotator
from harness.core.failures import HarnessError
from harness.fst import builtin, model
from harness.fst.analyser import Analyser, open_analyser
from harness.fst.builtin import MOST_ANALYSES
from harness.fst.layout import MOST_LETTERS
from harness.fst.model import MOST_BYTES, AnalyserError, FstStatus, find_analyser, installed_engines
from tests.harness.fst.making import ENGINES, layout_of, mutated, needs, real, spelt_by, written
from tests.harness.sealed.refusals import refuses
from tests.outside import DESCRIPTIVE, ENGLISH, RUSSIAN, STRICT, published, skip_without
from tests.review.thorough import examples, first, times

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
@pytest.mark.parametrize("engine", first(1, ENGINES))
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
    words = [*spelt_by(layout_of(path), 2500), *sorted(found)[::3][:2500]]
    words += mutated(words, "ыщбя" if cyrillic else "âêtš")
    ours, theirs = (open_analyser(path, each).analyse(words) for each in ("builtin", engine))
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


def opened(folder: Path, arcs: list[tuple[int, str, str, int]], finals: list[int], engine: str = "") -> Analyser:
    """Write a small analyser and open it; an engine that is not installed skips the test."""
    if engine:
        needs(engine)
    (folder / "small.hfstol").write_bytes(written(arcs, finals))
    return open_analyser(folder / "small.hfstol", *([engine] if engine else []))


@pytest.mark.parametrize("engine", ENGINES)
def test_longest_symbol_and_unknown_letters_are_read(tmp_path: Path, engine: str) -> None:
    both = [(0, "ch", "ch", 1), (0, "c", "c", 2), (2, "h", "+X", 1)]
    analyser = opened(tmp_path, both, [1], engine)
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
def test_cycles_end(tmp_path: Path, arcs: list[tuple[int, str, str, int]], words: dict[str, int]) -> None:
    analyser = opened(tmp_path, arcs, [1])
    assert analyser.engine == "builtin"
    for word, analyses in words.items():
        [(accepted, found)] = analyser.analyse([word])
        assert (accepted, found) == (analyses is not None, analyses or ())
    for engine in ENGINES[1:]:
        error = refuses(AnalyserError, "cycle", open_analyser, tmp_path / "small.hfstol", engine)
        assert error.status is FstStatus.ENGINE_ERROR


def test_ambiguous_words_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arcs = [(n, "a", written_, n + 1) for n in range(40) for written_ in ("x", "y")]
    [(accepted, analyses)] = opened(tmp_path, arcs, [40]).analyse(["a" * 40])
    assert accepted
    assert len(analyses) == 1000
    assert analyses[0] == "x" * 40
    analyser = opened(tmp_path, [(0, "a", "A", 1)], [1])
    assert (analyser.engine, analyser.engine_version) == ("builtin", installed_engines()["builtin"])
    assert next(iter(installed_engines())) == "builtin"
    refuses(AnalyserError, "'foma' is not known", open_analyser, tmp_path / "small.hfstol", "foma")
    # each of sixteen flags may be set or not, all in one cycle: 65,536 places without a letter
    arcs = [(0, f"@P.f{n}.v@", f"@P.f{n}.v@", 0) for n in range(16)] + [(0, "a", "a", 1)]
    monkeypatch.setattr(builtin, "MOST_PLACES", 2_000)
    words, analyser = r"small\.hfstol does not come to an end", opened(tmp_path, arcs, [1])
    assert refuses(AnalyserError, words, analyser.analyse, ["a"]).status is FstStatus.ENGINE_ERROR


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


SAMPLES = files("corpora.samples")
ENTRIES = json.loads(SAMPLES.joinpath("eo-demo-v1.json").read_text("utf-8"))["entries"]


def share_accepted(texts: list[str]) -> float:
    split = [word.text for text in texts for word in words(text) if word.text.isalpha()]
    found = FstAnnotator(open_analyser(ANALYSER)).analyse_words(split)
    return sum(word.accepted is not None for word in found) / len(found)


def outputs(system: str) -> list[str]:
    lines = SAMPLES.joinpath(f"eo-demo-outputs-{system}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["output"] for line in lines]


def test_demo_s_words_are_known_and_english_refused() -> None:
    assert share_accepted([entry["reference"] for entry in ENTRIES]) > 0.99
    assert share_accepted([text for entry in ENTRIES for text in entry.get("variants", [])]) > 0.99
    coaching = json.loads(SAMPLES.joinpath("eo-demo-coaching.json").read_text("utf-8"))
    assert share_accepted([example["target"] for example in coaching["examples"]]) == 1
    assert share_accepted([str(text) for text in coaching["dictionary"].values()]) > 0.99
    lines = SAMPLES.joinpath("eo-demo-glossary.tsv").read_text("utf-8").splitlines()
    pairs = [line.split("\t")[1] for line in lines if not line.startswith("#")]
    assert share_accepted(pairs[1:]) > 0.99
    assert share_accepted([entry["source"] for entry in ENTRIES]) < 0.05
    assert share_accepted(outputs("weak")) < 0.88
    assert share_accepted(outputs("strong")) > 0.97
    analyser = open_analyser(ANALYSER)
    english = "the and accept hunter photographs melted theatre sun mouse minority are garden is a"
    assert not any(accepted for accepted, _ in analyser.analyse(english.split()))
    assert ANALYSER.stat().st_size < 300_000


@pytest.mark.parametrize(("word", "analyses"), [
    ("hundojn", ["hundo+N+Pl+Acc"]), ("vidas", ["vidi+V+Prs"]), ("iris", ["iri+V+Prt"]),
    ("helpus", ["helpi+V+Cond"]), ("malgrandajn", ["malgranda+A+Pl+Acc"]),
    ("parolantoj", ["paroli+V+Act+PrsPrc+N+Pl+Nom"]),
    ("legitajn", ["legi+V+Pass+PrfPrc+A+Pl+Acc"]), ("konatiĝi", ["konatiĝi+V+Inf"]),
    ("instruistino", ["instruistino+N+Sg+Nom"]), ("manĝilaron", ["manĝilaro+N+Sg+Acc"]),
    ("hejmen", ["hejme+Adv+Acc"]), ("mian", ["mi+Pron+Pers+1Sg+Poss+A+Sg+Acc"]),
    ("kiujn", ["kiu+Pron+Corr+Interr+Pl+Acc", "kiu+Pron+Corr+Rel+Pl+Acc"]),
    ("neniam", ["neniam+Adv+Corr+Neg"]), ("tridek", ["tridek+Num"]),
    ("tria", ["tria+A+Ord+Sg+Nom"]), ("en", ["en+Pr"]), ("ĉu", ["ĉu+Pcle+Qst"]),
    ("Varsovio", ["Varsovio+N+Prop+Sg+Nom"]), ("hundjo", None), ("hundojnn", None),
    ("hundi", None), ("vidass", None), ("kiujmo", None), ("o", None),
])  # fmt: skip
def test_analyses(word: str, analyses: list[str] | None) -> None:
    assert open_analyser(ANALYSER).analyse([word]) == [(analyses is not None, (*(analyses or ()),))]


def test_every_tag_is_declared_and_explained() -> None:
    source = SOURCE.read_text("utf-8")
    declared = set(re.findall(r"\+\w+", source.split("LEXICON Root")[0].split("Multichar_")[1]))
    shown = {symbol for symbol in layout_of(ANALYSER).alphabet.shown if symbol.startswith("+")}
    assert shown == declared
    readme = SOURCE.with_name("README.md").read_text("utf-8")
    assert [tag for tag in declared if f"`{tag}`" not in readme and f"`{tag} " not in readme] == []
    readme = SOURCE.with_name("README.md").read_text("utf-8")
    table = tomllib.loads(re.findall(r"```toml\n(.*?)```", readme, re.DOTALL)[0])["glosses"]
    tags = {symbol[1:] for symbol in layout_of(ANALYSER).alphabet.shown if symbol.startswith("+")}
    assert {tag for value in table.values() for tag in value.split("+") if tag} <= tags
    glosses = {
        gloss
        for entry in ENTRIES
        for word in entry["morphological_analysis"].split(" | ")[1].split()
        for gloss in word.split("-")
        if gloss.isupper() or re.fullmatch(r"[A-Z.]+|[123].*", gloss)
    }
    assert glosses <= set(table)


@pytest.mark.thorough
def test_building_again_gives_the_same_analyser(tmp_path: Path) -> None:
    needs("hfst")
    build(tmp_path / "again.hfstol")
    old, new = open_analyser(ANALYSER), open_analyser(tmp_path / "again.hfstol")
    found = spelt_by(layout_of(ANALYSER), 500)
    found += mutated(found, "aeioujnŭĉ")
    assert old.analyse(found) == new.analyse(found)
    assert sum(accepted for accepted, _ in new.analyse(found)) >= 500


CARD = LanguageCard(
    tag="se", name="Northern Sámi", aliases=("sme",), default_script="Latn",
    writings={"Latn": WritingSystem(letters="a b", cased=True)},
    analysers=("analyser-gt-norm.hfstol", "analyser-gt-desc.hfstol", "sme-analyser.hfstol"),
    sources={},
)  # fmt: skip


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_first_name_of_the_card_wins_in_its_folder(tmp_path: Path) -> None:
    assert find_analyser(CARD, "se", [tmp_path]) is None
    assert find_analyser(None, "xx", [tmp_path / "none"]) is None
    touch(tmp_path / "analyser-gt-norm.hfstol")
    touch(tmp_path / "fi" / "analyser-gt-norm.hfstol")
    assert find_analyser(CARD, "se", [tmp_path]) is None
    for name in ("se.hfstol", "analyser-gt-desc.hfstol", "analyser-gt-norm.hfstol"):
        touch(tmp_path / "se" / name)
    assert find_analyser(CARD, "se", [tmp_path]) == tmp_path / "se" / "analyser-gt-norm.hfstol"
    touch(tmp_path / "secret.hfstol")
    (tmp_path / "languages").mkdir()
    assert find_analyser(None, "../secret", [tmp_path / "languages"]) is None
    assert find_analyser(None, str(tmp_path / "secret"), [tmp_path / "languages"]) is None
    shipped = find_analyser(None, "epo")
    assert shipped.name == "epo.hfstol"
    own = touch(tmp_path / "epo" / "epo.hfstol")
    assert find_analyser(None, "epo", [tmp_path]) == own
    for number, name in enumerate((
        "se/analyser-gt-desc.hfstol", "sme/analyser-gt-desc.hfstol.gz", "se/analyser-gt-norm.hfstol",
        "sme-analyser.hfstol", "se.hfstol", "sme/sme.hfstol", "se-Latn/se.hfstol", "se-Latn.hfstol.gz",
    )):  # fmt: skip
        path = touch(tmp_path / str(number) / name)
        assert find_analyser(CARD, "se-Latn", [tmp_path / str(number)]) == path


SOUND = written([(0, "a", "A", 1), (1, "b", "+N", 2), (2, "", "+Sg", 3)], [3])
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4a0c3486497d\nsize 2343428\n"
BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "pointer": (POINTER, "git lfs pull"),
    "random": (bytes(range(256)) * 40, "no HFST optimized-lookup analyser"),
    "stub": (SOUND[:60], "cut off"),
    "cut header": (SOUND[:12], "cut off"),
    "cut symbols": (SOUND[: SOUND.index(b"@_EPS") + 4], "cut off"),
    "four short": (SOUND[:-4], "is damaged"),
    "half": (SOUND[: len(SOUND) // 2], "is damaged"),
    "longer": (SOUND + b"\0" * 8, "is damaged"),
    "other kind": (SOUND.replace(b"HFST_OL\0", b"TROPIC_\0"), "hfst-fst2fst -O"),
    "zip": (b"PK\x03\x04" + SOUND, "zip archive"),
    "foma": (b"##foma-net 1.0##\n", "foma"),
    "web page": (b"<!DOCTYPE html>", "web page"),
    "cut gzip": (gzip.compress(SOUND)[:-9], "damaged gzip"),
    "not UTF-8": (SOUND.replace(b"+Sg", b"\xff\xfeg"), "not UTF-8"),
    "far target": (SOUND.replace((8).to_bytes(4, "little"), b"\xff\xff\xff\x7f"), "is damaged"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_has_a_status_and_a_mend(tmp_path: Path, engine: str, kind: str) -> None:
    needs(engine)
    content, words = BAD[kind]
    path = tmp_path / "crk.hfstol"
    path.write_bytes(content)
    error = refuses(AnalyserError, words, open_analyser, path, engine)
    assert error.status is FstStatus.MODEL_INVALID
    assert str(error).startswith("Analyser crk.hfstol ")
    assert isinstance(error, HarnessError)
    assert str(tmp_path) not in str(error)


def test_missing_file_and_bomb_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, status, said in (
        (tmp_path / "gone.hfstol", FstStatus.NOT_CONFIGURED, r"gone\.hfstol does not exist"),
        (tmp_path, FstStatus.MODEL_INVALID, "cannot be read"),
    ):
        assert refuses(AnalyserError, said, open_analyser, path).status is status
    monkeypatch.setattr(model, "MOST_BYTES", 1000)
    path = tmp_path / "bomb.hfstol.gz"
    path.write_bytes(gzip.compress(b"\0" * 100_000))
    refuses(AnalyserError, "when unpacked", open_analyser, path)
    path.write_bytes(b"\0" * 2000)
    refuses(AnalyserError, "is larger than", open_analyser, path)


@given(st.integers(0, len(SOUND) - 1), st.integers(0, 255), st.text("ab", max_size=4))
@examples(60, 300, suppress_health_check=list(HealthCheck))
def test_changed_byte_crashes_nothing(tmp_path: Path, at: int, byte: int, word: str) -> None:
    path = tmp_path / "changed.hfstol"
    path.write_bytes(SOUND[:at] + bytes([byte]) + SOUND[at + 1 :])
    with suppress(AnalyserError):
        [(accepted, analyses)] = open_analyser(path, "builtin").analyse([word])
        assert accepted or not analyses


@given(st.binary(max_size=300))
@examples(30, 100, suppress_health_check=list(HealthCheck))
def test_random_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "random.hfstol"
    path.write_bytes(content)
    refuses(AnalyserError, "", open_analyser, path)


@given(st.text(max_size=300))
@examples(40, 200)
def test_no_word_raises(word: str) -> None:
    skip_without(STRICT)
    [(accepted, analyses)] = _strict().analyse([word])
    assert accepted or not analyses


@cache
def _strict() -> Analyser:
    return open_analyser(STRICT, "builtin")


EPO = Path(__file__).parents[3] / "corpora" / "languages" / "shipped" / "epo" / "epo.hfstol"
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def flips(content: bytes, places: Iterable[int], seed: int = 3) -> list[tuple[int, int]]:
    """Return a place and a mask for each of the places: one bit, any bits, or all."""
    choice = random.Random(seed)
    return [(at, choice.choice([1 << choice.randrange(8), choice.randrange(1, 256), 255]))
            for at in places]  # fmt: skip


def signals_of(act: Callable[[int, int], None], changes: Iterable[tuple[int, int]]) -> list[str]:
    """Do something for each change in a child process of its own; gives the deaths by a signal."""
    found = []
    for at, mask in changes:
        child = os.fork()
        if not child:
            code = 3
            try:
                quiet = os.open(os.devnull, os.O_WRONLY)
                os.dup2(quiet, 1)
                os.dup2(quiet, 2)
                act(at, mask)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if status:
            told = signal.Signals(status).name if os.WIFSIGNALED(status) else "an exception"
            found.append(f"byte {at} ^ {mask:#x}: {told}")
    return found


def asking(path: Path, folder: Path, engine: str, words: list[str]) -> Callable[[int, int], None]:
    """Return what opens a changed copy of an analyser, and asks it about words."""
    content = path.read_bytes()
    copy = folder / "changed.hfstol"

    def act(at: int, mask: int) -> None:
        copy.write_bytes(content[:at] + bytes([content[at] ^ mask]) + content[at + 1 :])
        with suppress(AnalyserError):
            open_analyser(copy, engine).analyse(words)

    return act


@pytest.mark.thorough
@forks
@pytest.mark.parametrize("engine", ["builtin", "hfst"])
@pytest.mark.parametrize("path", [EPO, pytest.param(STRICT, marks=real)], ids=lambda path: path.name)
def test_no_changed_byte_ends_the_process(tmp_path: Path, path: Path, engine: str) -> None:
    """Properties and counts, the makers' header, and as many bytes of the tables."""
    needs(engine)
    open_analyser(path, engine)  # what is imported is shared by the children
    content = path.read_bytes()
    counts = 8 + int.from_bytes(content[5:7], "little")
    choice = random.Random(11)
    tables = [choice.randrange(counts + 56, len(content)) for _ in range(times(30, 120))]
    places = [*range(0, counts, times(9, 1)), *range(counts, counts + 56), *tables]
    act = asking(path, tmp_path, engine, ["hundo", "parolas", "atim", "niwâpamâw"])
    assert signals_of(act, flips(content, places)) == []
