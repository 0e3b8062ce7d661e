"""What is written comes back, also of corpora that are not ours: NTREX-128, 1,997 lines a language."""

import csv
import io
import json
import os
import stat
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from corpora.checks.envelope import is_mark, is_term_mark
from corpora.checks.requirements import statistics
from corpora.files.problems import CorpusError
from corpora.formats.load import File, load, read
from corpora.formats.write import encode, losses, write
from corpora.model.corpus import SYNONYMS, Corpus, Dataset, Form
from corpora.model.entry import CONTEXTS, PROVENANCES, REGISTERS, Entry, Segment
from corpora.model.terms import speaks_of_terms
from corpora.model.vocabularies import Transmission, licence_class
from corpora.text.comparison import is_blank
from corpora.text.visible import is_formula
from tests.corpora.making import LANGUAGES, corpus_of, entry, json_file
from tests.harness.sealed.refusals import refuses
from tests.outside import ENGLISH, only_with, published
from tests.review.thorough import examples, first

ONE_FILE = [form for form in Form if form.written and form is not Form.PARALLEL]

_SIGNS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
_ANY_TEXT = st.text(_SIGNS, max_size=12) | st.sampled_from(
    ["=1+1", "+a", "-b", "@c", "# x", '"', '"a', "a,b", "a\tb\nc", "\r", "[1]", "true", "7", " x "]
)
_LETTER = st.characters(categories=["L"])
_TEXT = st.builds("".join, st.tuples(st.text(_SIGNS, max_size=6), _LETTER, st.text(_SIGNS, max_size=6))) | (
    st.sampled_from(["+a", "-b", "@c", "# x", '"a', "a,b", "a\tb\nc", "true", " x "])
)


def _free(name: str) -> bool:
    return not (is_mark(name) or is_term_mark(name) or speaks_of_terms(name))


def _is_open_licence(text: str) -> bool:
    found = licence_class(text)
    return found is not None and found.leads_to == Transmission.OPEN


_NO_MARK = _TEXT.filter(_free)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | _ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NO_MARK, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
_RECORD = st.dictionaries(_NO_MARK, _VALUE, max_size=2)
_RESERVED = {name for known, others in SYNONYMS.items() for name in (known, *others)} | {
    "index", "difficulty_tier", "difficulty_label", "provenance_record", "provenance_tag",
    "register_", *Dataset.model_fields, "entries", "dataset", "corpus_id", "entry_count",
    "language_names", "language_pair_label", "provenance_tags",
}  # fmt: skip
_EXTRAS = st.dictionaries(
    st.from_regex(r"[A-Za-zâ][A-Za-z0-9_â -]{0,8}[a-z]", fullmatch=True).filter(
        lambda name: name.strip().lower().replace(" ", "_") not in _RESERVED and _free(name)
    ),
    _VALUE,
    max_size=3,
)
_TAG = st.sampled_from(["Waikato", "nêhiyawêwin (y)", "a|b", "1972"])
_IDS = st.integers(-(2**53) + 1, 2**53 - 1) | _TEXT | st.sampled_from(["007", "1.0", "-0"])
_SOURCES = _TEXT | st.sampled_from(["", " ", "\u200b"])  # official sets have blank ones
_ENTRIES = st.builds(
    lambda ours, more: Entry.model_validate(more | ours),
    st.fixed_dictionaries(
        {"id": _IDS, "source": _SOURCES, "reference": _TEXT},
        optional={
            "variants": st.lists(_ANY_TEXT, max_size=3), "segment": st.sampled_from(Segment),
            "difficulty": st.integers(1, 5), "variety": _TAG, "orthography": _TAG,
            "provenance": st.sampled_from(PROVENANCES) | _ANY_TEXT, "provenance_record": _RECORD,
            "register": st.sampled_from(REGISTERS), "context": st.sampled_from(CONTEXTS),
            "morphological_analysis": _ANY_TEXT, "notes": _ANY_TEXT,
            "difficulty_label": st.sampled_from(["easy", "Hard", "none"]),
        },
    ),
    _EXTRAS,
)  # fmt: skip
_DATASETS = st.builds(
    lambda ours, more: Dataset.model_validate(more | ours),
    st.fixed_dictionaries(
        {
            "id": _TEXT, "version": _ANY_TEXT, "language_pair": _ANY_TEXT | st.just("EN→CRK"),
            "source_language": st.just("en"),
            "target_language": st.sampled_from(["crk", "crk-Cans", "es-MX"]),
        },
        optional={
            "created": _ANY_TEXT, "variety": _TAG, "file_lines": st.integers(1, 10**6),
            "license": _TEXT.filter(_is_open_licence), "provenance_record": _RECORD,
            "provenance": st.lists(st.sampled_from(PROVENANCES) | _TEXT, max_size=2),
            "language_names": st.dictionaries(st.sampled_from(["source_name", "target_name"]), _TEXT, min_size=1),
        },
    ),
    _EXTRAS,
)  # fmt: skip


@pytest.mark.thorough
@examples(50, 50)
@pytest.mark.parametrize("form", ONE_FILE)
@given(dataset=_DATASETS, rows=st.lists(_ENTRIES, min_size=1, max_size=4, unique_by=lambda row: str(row.id)))
def test_what_is_written_reads_back(form: Form, dataset: Dataset, rows: list[Entry]) -> None:
    assume(not all(is_blank(entry.source) for entry in rows))
    (text,) = encode(Corpus(dataset, tuple(rows), "", form), form)
    back = read([File("x", text.encode())], form=form)
    # what the envelope says of all entries holds for each that says nothing itself
    held = ("variety", "orthography")
    kept = [{name: getattr(row, name) or getattr(dataset, name) for name in held} for row in rows]
    told = [row.model_copy(update=update) for row, update in zip(rows, kept, strict=True)]
    assert (list(back.entries), back.dataset) == (told, dataset)


def test_a_tab_in_every_reference_is_named_as_what_two_text_files_lose() -> None:
    """A reader takes such lines as several references, parted by tabs."""
    corpus = corpus_of(entry(1, reference="one\ttwo"))
    files = [File("t", text.encode()) for text in encode(corpus, Form.PARALLEL)]
    assert "reference (1 entries)" in losses(corpus, Form.PARALLEL, files)


@pytest.mark.parametrize("start", ONE_FILE)
def test_any_form_turns_into_any_other_and_back(tmp_path: Path, start: Form) -> None:
    corpus = corpus_of(
        entry(1, difficulty=1, variants=["a|b", "c"], metadata={"x": [1.5, None]}),
        entry("t_2", difficulty=5, segment="diagnostic", notes="=SUM(A1)"),
        license="CC0-1.0",
        consent={"given": True},
    )
    write(corpus, tmp_path / "first", start)
    first = load(tmp_path / "first", form=start)
    for end in ONE_FILE:
        write(first, tmp_path / f"to {end}", end)
        second = load(tmp_path / f"to {end}", form=end)
        assert (second.reveal_here(), second.dataset) == (corpus.reveal_here(), corpus.dataset)


def test_difficulty_words_come_back_beside_the_exact_tier(tmp_path: Path) -> None:
    old = [{"index": 1, "source_text": "a", "target_expected": "b", "difficulty": "Hard"}]
    (tmp_path / "old.json").write_text(json.dumps(old))
    corpus = load(tmp_path / "old.json", dataset=LANGUAGES)
    write(corpus, tmp_path / "new.csv", Form.CSV)
    write(load(tmp_path / "new.csv"), tmp_path / "again.json", Form.LEGACY)
    assert json.loads((tmp_path / "again.json").read_text())["entries"] == old
    write(corpus_of(entry(1, difficulty=5)), tmp_path / "a.json", Form.LEGACY)
    (row,) = json.loads((tmp_path / "a.json").read_text())["entries"]
    assert (row["difficulty"], row["difficulty_tier"]) == ("hard", 5)
    assert load(tmp_path / "a.json").entries[0].difficulty == 5


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
def test_files_are_their_owner_s_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")
    path.chmod(0o644)
    write(corpus_of(entry(1, notes="=1+1")), path, Form.CSV)
    assert path.read_text().splitlines()[-1] == '1,source 1,reference 1,"""=1+1"""'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["a.json"]  # noqa: PTH208


def test_secret_entries_are_written_only_when_allowed(tmp_path: Path) -> None:
    for segment in ("gold_standard", "held_out"):
        corpus, path = (corpus_of(entry(1, segment=segment), entry(2)), tmp_path / f"{segment[:4]}.json")
        with pytest.raises(CorpusError, match="1 entries belong to secret segments") as caught:
            write(corpus, path, Form.SPECIFICATION, lossy=True)
        assert "reference 1" not in str(caught.value)
        assert not path.exists()
        write(corpus, path, Form.SPECIFICATION, allow_secret=True)
        assert load(path).reveal_here() == corpus.reveal_here()


def test_two_text_files_name_what_they_lose_and_stay_aligned(tmp_path: Path) -> None:
    corpus = corpus_of(entry(1, notes="n"), entry(7, source="b"), license="CC0-1.0")
    out = tmp_path / "a.en.txt", tmp_path / "a.crk.txt"
    caught = refuses(CorpusError, "", write, corpus, out[0], Form.PARALLEL, reference=out[1])
    message = str(caught)
    for lost in ("dataset.license", "notes (1 entries)", "id (1 entries)"):
        assert lost in message
    assert not any(path.exists() for path in out)
    corpus = corpus_of(entry(1, source="two\nlines"), entry(2), license="CC0-1.0")
    write(corpus, out[0], Form.PARALLEL, reference=out[1], lossy=True)
    assert [each.source for each in load(*out).entries] == ["two lines", "source 2"]


def test_an_extra_field_that_collides_with_an_old_name_is_refused(tmp_path: Path) -> None:
    corpus = corpus_of(entry(1, source_text="not the source"))
    refuses(CorpusError, "would lose", write, corpus, tmp_path / "a.json", Form.LEGACY)
    write(corpus, tmp_path / "b.json", Form.SPECIFICATION)
    assert load(tmp_path / "b.json").entries == corpus.entries


def test_values_that_no_file_can_hold_are_refused(tmp_path: Path) -> None:
    for value in (float("nan"), [float("inf")], {1, 2}, "\ud800"):
        for form in ONE_FILE:
            refuses(CorpusError, "", write, corpus_of(entry(1, extra=value)), tmp_path / "a", form)
    assert not any(tmp_path.iterdir())


def test_wrong_number_of_files_or_folder_is_refused(tmp_path: Path) -> None:
    corpus = corpus_of(entry(1))
    refuses(CorpusError, "two files", write, corpus, tmp_path / "a", Form.PARALLEL)
    refuses(CorpusError, "one file", write, corpus, tmp_path / "a", Form.CSV, reference=tmp_path / "b")
    with pytest.raises(CorpusError, match="cannot be written"):
        write(corpus_of(entry(1)), tmp_path / "no" / "a.json", Form.SPECIFICATION)


def test_what_was_read_from_json_is_the_same_after_writing(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry(1), entry(2, source="b")])
    corpus = load(path)
    write(corpus, tmp_path / "b.json", Form.SPECIFICATION)
    again = load(tmp_path / "b.json")
    write(again, tmp_path / "c.json", Form.SPECIFICATION)
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "c.json").read_bytes()
    assert again.sha256 != corpus.sha256


@examples(20, 60)
@given(st.lists(st.tuples(st.booleans(), _LETTER, _LETTER | st.just("")), min_size=1, max_size=9))
def test_aligned_files_keep_every_entry_on_its_line(rows: list[tuple[bool, str, str]]) -> None:
    """Also where lines are blank on both sides, or only in the source."""
    assume(any(kept and source for kept, _, source in rows))
    sides = ["".join(f"{pair[side] if pair[0] else ''}\n" for pair in rows).encode() for side in (2, 1)]
    names = ("s.en", "r.mi")
    files = [File(name, data) for name, data in zip(names, sides, strict=True)]
    corpus = read(files)
    assert [e.id for e in corpus.entries] == [n for n, row in enumerate(rows, 1) if row[0]]
    assert [text.encode() for text in encode(corpus, Form.PARALLEL)] == sides
    for form in (Form.TSV, Form.JSONL):
        (text,) = encode(corpus, form)
        again = read([File(f"a.{form}", text.encode())])
        assert [each.encode() for each in encode(again, Form.PARALLEL)] == sides


_LINE = _TEXT.filter(lambda text: not ({*"\r\n\t"} & {*text} or text.startswith("\ufeff")))


@examples(20, 50)
@given(st.lists(st.tuples(_LINE, _LINE), min_size=1, max_size=5))
def test_plain_pairs_go_through_two_text_files(pairs: list[tuple[str, str]]) -> None:
    rows = [entry(n, source=pair[0], reference=pair[1]) for n, pair in enumerate(pairs, 1)]
    dataset = Dataset(id="t", language_pair="EN→CRK", **LANGUAGES)
    corpus = Corpus(dataset, corpus_of(*rows).entries, "", Form.CSV)
    texts = encode(corpus, Form.PARALLEL)
    files = [File(f"t.{n}", text.encode()) for n, text in enumerate(texts)]
    assert losses(corpus, Form.PARALLEL, files) == []


SCRIPTS = {
    "fin": "Latin", "hin": "Devanagari", "arb": "Arabic", "amh": "Ethiopic", "ukr": "Cyrillic",
    "mri": "Latin", "spa": "Latin",
}  # fmt: skip


@only_with(ENGLISH)
@pytest.mark.parametrize("language", first(1, [*SCRIPTS, "jpn"]))
def test_each_language_loads_without_a_hand_edit(language: str) -> None:
    corpus = load(ENGLISH, published(language))
    assert len(corpus.entries) == 1997
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("eng", language)
    if language in SCRIPTS:
        script, share = next(iter(statistics(corpus).reference.scripts.items()))
        assert script == SCRIPTS[language]
        assert share > 0.9


@pytest.mark.thorough
@only_with(ENGLISH)
def test_every_form_carries_a_real_corpus(tmp_path: Path) -> None:
    corpus = load(ENGLISH, published("arb"), dataset={"license": "CC-BY-SA-4.0"})
    out = tmp_path / ENGLISH.name, tmp_path / published("arb").name
    write(corpus, out[0], Form.PARALLEL, reference=out[1], lossy=True)
    assert load(*out).reveal_here() == corpus.reveal_here()
    for form in ONE_FILE:
        write(corpus, tmp_path / "copy", form)
        copy = load(tmp_path / "copy")
        assert copy.form is form
        assert (copy.reveal_here(), copy.dataset) == (corpus.reveal_here(), corpus.dataset)


@pytest.mark.parametrize("form", [Form.CSV, Form.TSV])
def test_no_cell_of_a_table_is_a_formula_and_texts_come_back(form: Form, tmp_path: Path) -> None:
    starts = ["=", "+", "-", "@", "\t", "\r", "\n", " =", "＝", "＋", "－", "＠", "﹣", "\ufeff="]
    texts = [f"{start}cmd|x" for start in starts]
    rows = [entry(at, source=text, notes=text) for at, text in enumerate(texts)]
    corpus = corpus_of(*rows, license="CC0,=1", extra=[f"a,{text}" for text in texts])
    path = tmp_path / "a.csv"
    write(corpus, path, form)
    assert (load(path).dataset, load(path).entries) == (corpus.dataset, corpus.entries)
    made = io.StringIO(path.read_text(), newline="")
    cells = chain(*csv.reader(made, delimiter="," if form is Form.CSV else "\t"))
    assert not any(map(is_formula, cells))
