"""Terms of a corpus, selections of its entries, and the examples of its page."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files.problems import CorpusError
from corpora.formats.load import load
from corpora.formats.write import write
from corpora.model.corpus import Corpus, Dataset, Form, Selection
from corpora.model.entry import Entry, Segment
from corpora.model.licences import licence_class
from corpora.model.sending import Transmission
from tests.corpora.making import LANGUAGES, entry, envelope, file, json_file, only_problem

LOCAL = "local-only"


TABLE = "id,source,reference\n1,one,unu\n"


def beside(folder: Path, name: str = "corpus.json", **fields: Any) -> Path:
    path = folder / f"{name}.champollion.json" if name else folder / ".champollion.json"
    path.write_text(json.dumps(fields))
    return path


def kept_here(corpus: Corpus) -> bool:
    secret = {each.secret for each in corpus.entries}
    assert secret == {corpus.dataset.terms.local_only}
    return corpus.dataset.terms.local_only


@pytest.mark.parametrize("written", [LOCAL, "Local-Only", "LOCAL_ONLY", " local only "])
def test_the_envelope_keeps_every_entry_here(tmp_path: Path, written: str) -> None:
    corpus = load(json_file(tmp_path, [entry(1), entry(2)], transmission=written))
    assert kept_here(corpus)
    assert "transmission" in corpus.dataset.terms.words


def test_without_a_term_nothing_is_kept(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, [entry()]))
    assert not kept_here(corpus)
    assert corpus.dataset.terms.words == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("top.json", json.dumps({**envelope(), "transmission": LOCAL, "entries": [entry()]})),
        (
            "reference.json",
            json.dumps(
                {
                    "corpus_id": "made",
                    "language_pair": {"source": "en", "target": "crk"},
                    "transmission": LOCAL,
                    "entries": [entry()],
                }
            ),
        ),
        ("lines.jsonl", "\n".join(map(json.dumps, [{"dataset": envelope(transmission=LOCAL)}, entry()]))),
        ("entry.jsonl", json.dumps(entry(transmission=LOCAL))),
        ("table.csv", f"# transmission: {LOCAL}\n{TABLE}"),
        ("quoted.csv", f'# dataset.transmission: "{LOCAL}"\n{TABLE}'),
        ("column.tsv", f"id\tsource\treference\ttransmission\n1\tone\tunu\t{LOCAL}\n"),
    ],
)  # fmt: skip
def test_every_form_can_say_it(tmp_path: Path, name: str, text: str) -> None:
    assert kept_here(load(file(tmp_path, text, name), dataset=LANGUAGES))


@pytest.mark.parametrize("word", ["private", "local-onIy", "ask us", 7, True, ["local-only"], {}])
def test_a_term_that_is_not_understood_is_an_error(tmp_path: Path, word: Any) -> None:
    found = only_problem(json_file(tmp_path, [entry()], transmission=word))
    assert found.field == "dataset.transmission" or "transmission" in str(found.field)
    assert LOCAL in found.mend
    assert '"open"' in found.mend


@pytest.mark.parametrize("word", ["Transmission", "transmision", "do_not_send", "local_only"])
def test_a_field_that_resembles_it_is_an_error(tmp_path: Path, word: str) -> None:
    for found in (
        only_problem(json_file(tmp_path, [entry()], **{word: LOCAL})),
        only_problem(json_file(tmp_path, [entry(**{word: True})])),
        only_problem(file(tmp_path, f"{TABLE}# {word}: x\n", "t.csv"), dataset=LANGUAGES),
    ):
        assert LOCAL in found.mend


def test_the_term_under_another_name_is_an_error(tmp_path: Path) -> None:
    assert LOCAL in only_problem(json_file(tmp_path, [entry()], colour="local only")).mend


KEEPING = [
    ("License", "CC-BY-ND-4.0"), ("licence", "CC-BY-ND-4.0"), ("LICENCE", "CC-BY-ND-4.0"),
    ("rights", "All rights reserved"), ("Rights", "All rights reserved"), ("data_license", "CC-BY-ND-4.0"),
    ("lisence", "CC-BY-ND-4.0"), ("role", "test"), ("Role", "test"), ("role", "sealed"),
    ("usage", "local-only"), ("usage_terms", "internal only"), ("terms", "do not share"),
    ("copyright", "All rights reserved, do not share"), ("notes", "Please do not share this corpus."),
]  # fmt: skip


ASKING = [
    ("Licence", "Our own way"), ("rights", "ask the elders"), ("terms", "see the agreement"),
    ("usage", "for members"), ("role", "benchmark"), ("public", "false"), ("Terms of use", "ask us"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "said"), KEEPING)
def test_however_a_term_is_called_the_texts_stay_here(tmp_path: Path, name: str, said: str) -> None:
    assert kept_here(load(json_file(tmp_path, [entry()], **{name: said})))
    for line in (f"# {name}: {said}", f"#{name}:{said}", f"## {name} : {said}"):
        path = file(tmp_path, f"{line}\n{TABLE}", "table.csv")
        if name == "notes":  # a remark of a person is no field
            assert LOCAL in only_problem(path, dataset=LANGUAGES).mend
        else:
            assert kept_here(load(path, dataset=LANGUAGES))
    beside(tmp_path, **{name: said})
    assert kept_here(load(json_file(tmp_path, [entry()])))


@pytest.mark.parametrize(("name", "said"), ASKING)
def test_however_a_term_is_called_it_must_be_understood(
    tmp_path: Path, name: str, said: str
) -> None:
    only_problem(json_file(tmp_path, [entry()], **{name: said}))
    only_problem(file(tmp_path, f"# {name}: {said}\n{TABLE}", "table.csv"), dataset=LANGUAGES)
    beside(tmp_path, **{name: said})
    only_problem(json_file(tmp_path, [entry()]))


@pytest.mark.parametrize(
    ("name", "said"),
    [("licence", "CC-BY-ND-4.0"), ("usage_terms", "internal only"), ("role", "test"),
     ("usage", "do not share"), ("Rights", "all rights reserved")],
)  # fmt: skip
def test_a_column_keeps_the_texts_here(tmp_path: Path, name: str, said: str) -> None:
    text = f"id,source,reference,{name}\n1,one,unu,{said}\n2,two,du,\n"
    assert kept_here(load(file(tmp_path, text, "table.csv"), dataset=LANGUAGES))


@pytest.mark.parametrize(
    ("name", "said"),
    [("usage", "informal"), ("role", "teacher"), ("terms", "dog"), ("access", "x")],
)
def test_a_column_about_words_is_no_term(tmp_path: Path, name: str, said: str) -> None:
    text = f"id,source,reference,{name}\n1,one,unu,{said}\n"
    assert not kept_here(load(file(tmp_path, text, "table.csv"), dataset=LANGUAGES))


@pytest.mark.parametrize(
    "comment",
    ["# All rights reserved", "# License CC-BY-ND-4.0", "# https://creativecommons.org/licenses/by-nd/4.0",
     "# note: do not share", "#licence = CC-BY-ND-4.0", "# Licensed to the council"],
)  # fmt: skip
def test_a_remark_that_may_be_a_term_is_an_error(tmp_path: Path, comment: str) -> None:
    for text in (f"{comment}\n{TABLE}", f"{TABLE}{comment}\n"):
        only_problem(file(tmp_path, text, "table.csv"), dataset=LANGUAGES)


def test_a_table_says_a_term_once_and_before_the_header(tmp_path: Path) -> None:
    twice = f"# license: CC-BY-ND-4.0\n# License: MIT\n{TABLE}"
    assert only_problem(file(tmp_path, twice, "table.csv"), dataset=LANGUAGES).line == 2
    late = file(tmp_path, f"{TABLE}# License: MIT\n", "table.csv")
    assert only_problem(late, dataset=LANGUAGES).line == 3


@pytest.mark.parametrize("content", ["{}", '{"by": "us"}', '{"role":"dev","role":"test"}'])
def test_a_mark_that_says_nothing_or_two_things_is_an_error(tmp_path: Path, content: str) -> None:
    beside(tmp_path).write_text(content)
    only_problem(json_file(tmp_path, [entry()]))


def test_a_comment_after_the_header_is_no_term(tmp_path: Path) -> None:
    found = only_problem(
        file(tmp_path, f"{TABLE}# transmission: {LOCAL}\n", "t.csv"), dataset=LANGUAGES
    )
    assert found.line == 3


@pytest.mark.parametrize("name", ["corpus.json", "corpus", ""])
@pytest.mark.parametrize("fields", [{"transmission": LOCAL}, {"role": "sealed"}, {"role": "test"}])
def test_a_mark_beside_the_file_keeps_it_here(tmp_path: Path, name: str, fields: Any) -> None:
    beside(tmp_path, name, **fields)
    corpus = load(json_file(tmp_path, [entry()]))
    assert kept_here(corpus)
    assert ".champollion.json" in corpus.dataset.terms.because


def test_a_mark_beside_either_of_two_files_counts(tmp_path: Path) -> None:
    files = [file(tmp_path, "one\n", f"news.{tag}.txt") for tag in ("en", "eo")]
    beside(tmp_path, "news.eo.txt", transmission=LOCAL)
    assert kept_here(load(*files))


@pytest.mark.parametrize(
    "fields",
    [{"transmission": "maybe"}, {"role": "unheard of"}, {"Transmission": LOCAL}, {"split": "test"}],
)
def test_a_mark_that_is_not_understood_is_an_error(tmp_path: Path, fields: Any) -> None:
    beside(tmp_path, **fields)
    only_problem(json_file(tmp_path, [entry()]))


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"{", b"[" * 100_000])
def test_a_mark_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes) -> None:
    beside(tmp_path).write_bytes(content)
    with pytest.raises(CorpusError, match="champollion"):
        load(json_file(tmp_path, [entry()]))


def test_the_strictest_term_holds(tmp_path: Path) -> None:
    beside(tmp_path, role="test")
    assert kept_here(load(json_file(tmp_path, [entry()], transmission="open")))
    assert kept_here(load(json_file(tmp_path, [entry(), entry(2, transmission=LOCAL)])))


def test_a_term_does_not_name_the_entry_that_it_makes_secret(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, [entry(), entry("name-of-one", transmission=LOCAL)]))
    assert corpus.dataset.terms.because == f"an entry, transmission: {LOCAL}"
    found = only_problem(json_file(tmp_path, [entry(), entry("name-of-one", transmission="soon")]))
    assert "name-of-one" in str(found.field)


def test_what_the_owner_says_goes_before_a_licence(tmp_path: Path) -> None:
    allowed = {"license": "All rights reserved", "transmission": "open"}
    assert not kept_here(load(json_file(tmp_path, [entry()], **allowed)))
    kept = {"license": "CC0-1.0", "transmission": LOCAL}
    assert kept_here(load(json_file(tmp_path, [entry()], **kept)))


@pytest.mark.parametrize(
    "licence",
    ["CC-BY-ND-4.0", "CC BY-NC-ND 4.0", "proprietary", "All Rights Reserved", "local-only",
     "Creative Commons Attribution-NoDerivs", "CC-BY-4.0, do not share", "internal use only",
     "TK CR", "Kaitiakitanga License", "community-eval-grant-nc", "BC Provenance"],
)  # fmt: skip
def test_licences_that_forbid_keep_the_texts_here(tmp_path: Path, licence: str) -> None:
    assert kept_here(load(json_file(tmp_path, [entry()], license=licence)))
    assert kept_here(load(json_file(tmp_path, [entry(license=licence)])))
    assert kept_here(load(json_file(tmp_path, [entry(provenance={"license": licence})])))


@pytest.mark.parametrize(
    "licence",
    ["CC0-1.0", "CC-BY-NC-SA-4.0", "CC-BY-2.0", "MIT", "Apache-2.0", "GPL-3.0-only", "unknown",
     "Public Domain", "ODbL-1.0", "OGL-UK-3.0", "", "none", "MIT No Attribution", "The MIT License",
     "https://creativecommons.org/licenses/by/4.0/", "Open Government Licence v3.0"],
)  # fmt: skip
def test_licences_that_allow_it_change_nothing(tmp_path: Path, licence: str) -> None:
    assert not kept_here(load(json_file(tmp_path, [entry()], license=licence)))


@pytest.mark.parametrize(
    "licence",
    ["research only", "LicenseRef-Council", "with consent of the elders",
     "CC BY 4.0, TK NC", "보호됨", "©", "Nur mit Erlaubnis", "other", "CC BY 4.0, do not upload", "MIT, private"],
)  # fmt: skip
def test_a_licence_that_may_forbid_asks_for_a_word(tmp_path: Path, licence: str) -> None:
    found = only_problem(json_file(tmp_path, [entry()], license=licence))
    assert '"transmission"' in found.mend
    said = json_file(tmp_path, [entry()], license=licence, transmission=LOCAL)
    assert kept_here(load(said))


@given(st.text(max_size=30))
def test_any_licence_can_be_judged(licence: str) -> None:
    found, closed = licence_class(licence), licence_class(f"{licence} - do not share")
    assert found is None or found.leads_to in set(Transmission)
    assert closed is not None
    assert closed.leads_to == Transmission.LOCAL_ONLY


@pytest.mark.parametrize("form", ["specification", "jsonl", "csv", "tsv"])
def test_what_is_written_carries_the_term(tmp_path: Path, form: str) -> None:
    beside(tmp_path, role="sealed")
    corpus = load(json_file(tmp_path, [entry()]))
    with pytest.raises(CorpusError, match="allow-secret"):
        write(corpus, tmp_path / "out.x", form)
    (tmp_path / "elsewhere").mkdir()
    out = tmp_path / "elsewhere" / f"out.{'json' if form == 'specification' else form}"
    write(corpus, out, form, allow_secret=True)
    assert kept_here(load(out))


def test_an_old_envelope_with_a_strange_term_stays_here() -> None:
    old = Dataset.model_validate(envelope(transmission={"who": "council"}))
    assert old.terms.local_only
    assert old.terms.unclear


def corpus_of(*rows: dict[str, Any]) -> Corpus:
    entries = tuple(Entry.model_validate(row) for row in rows)
    return Corpus(Dataset.model_validate(envelope()), entries, "", Form.SPECIFICATION)


MIXED = corpus_of(
    entry(1, segment="development", difficulty=1),
    entry("two", segment="diagnostic", difficulty=2),
    entry(3, segment="development", difficulty=3),
    entry(4, difficulty=1),
)


@pytest.mark.parametrize(
    ("selection", "positions"),
    [
        (Selection(), (0, 1, 2, 3)),
        (Selection(segments=(Segment.DEVELOPMENT,)), (0, 2)),
        (Selection(difficulties=(1, 2)), (0, 1, 3)),
        (Selection(segments=(Segment.DEVELOPMENT,), difficulties=(3,)), (2,)),
        (Selection(entry_ids=("3", "two", 1)), (0, 1, 2)),
        (Selection(limit=2), (0, 1)),
        (Selection(limit=99, sample=99), (0, 1, 2, 3)),
        (Selection(difficulties=(1,), limit=1), (0,)),
    ],
)
def test_filters_keep_the_order_of_the_corpus(
    selection: Selection, positions: tuple[int, ...]
) -> None:
    assert selection.apply(MIXED) == positions


def test_a_sample_is_drawn_by_the_hash_of_seed_and_id() -> None:
    corpus = corpus_of(*(entry(number) for number in range(100)))
    lots = sorted(range(100), key=lambda n: hashlib.sha256(f"7:{n}".encode()).hexdigest())
    assert Selection(sample=10, seed=7).apply(corpus) == tuple(sorted(lots[:10]))


@given(size=st.integers(1, 60), seed=st.integers())
def test_a_smaller_sample_is_part_of_a_larger_one(size: int, seed: int) -> None:
    corpus = corpus_of(*(entry(f"s{number}") for number in range(60)))
    small = Selection(sample=size, seed=seed).apply(corpus)
    large = Selection(sample=min(60, size + 5), seed=seed).apply(corpus)
    assert len(small) == size
    assert set(small) <= set(large)
    assert Selection(sample=size, limit=3, seed=seed).apply(corpus) == small[:3]


def test_an_id_that_is_not_there_is_named_harmlessly() -> None:
    with pytest.raises(CorpusError) as caught:
        Selection(entry_ids=("1", "no\x1b[2J", 99)).apply(MIXED)
    named = [str(problem.entry) for problem in caught.value.problems]
    assert named == ["no\\x1b[2J", "99"]


@pytest.mark.parametrize(
    ("selection", "field"),
    [
        (Selection(segments=(Segment.HELD_OUT,)), "segment"),
        (Selection(difficulties=(5,)), "difficulty"),
        (Selection(segments=(Segment.DIAGNOSTIC,), difficulties=(1,)), "difficulty"),
        (Selection(difficulties=(6,)), "difficulty"),
        (Selection(limit=0), "limit"),
        (Selection(sample=-1), "sample"),
    ],
)
def test_a_selection_of_nothing_names_the_filter(selection: Selection, field: str) -> None:
    with pytest.raises(CorpusError) as caught:
        selection.apply(MIXED)
    assert [problem.field for problem in caught.value.problems] == [field]


def test_an_unknown_id_is_answered_with_ids_that_exist() -> None:
    with pytest.raises(CorpusError, match=r"begins with 1, 2, 3\."):
        Selection(entry_ids=("zz",)).apply(corpus_of(*(entry(number) for number in range(1, 6))))


PAGE = Path(__file__).parents[2] / "docs" / "corpora.md"


EXAMPLES = re.findall(r"```(json|jsonl|csv)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize(("suffix", "text"), EXAMPLES, ids=[suffix for suffix, _ in EXAMPLES])
def test_example_loads(suffix: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"example.{suffix}"
    path.write_text(text, "utf-8")
    corpus = load(path)
    assert corpus.dataset.id == "greetings-v1"
    assert corpus.dataset.target_language == "eo"
    assert corpus.entries[0].source == "Good morning!"
    assert not corpus.warnings


def test_there_is_an_example_of_each_form() -> None:
    assert [suffix for suffix, _ in EXAMPLES] == ["json", "jsonl", "csv"]
