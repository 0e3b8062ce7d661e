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
from tests.review.thorough import examples

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


def test_without_a_term_nothing_is_kept_and_the_strictest_holds(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, [entry()]))
    assert not kept_here(corpus)
    assert corpus.dataset.terms.words == ""
    mark = beside(tmp_path, role="test")
    assert kept_here(load(json_file(tmp_path, [entry()], transmission="open")))
    mark.unlink()
    assert kept_here(load(json_file(tmp_path, [entry(), entry(2, transmission=LOCAL)])))
    allowed = {"license": "All rights reserved", "transmission": "open"}
    assert not kept_here(load(json_file(tmp_path, [entry()], **allowed)))
    kept = {"license": "CC0-1.0", "transmission": LOCAL}
    assert kept_here(load(json_file(tmp_path, [entry()], **kept)))


def test_every_form_can_say_it(tmp_path: Path) -> None:
    for name, text in [
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
    ]:  # fmt: skip
        assert kept_here(load(file(tmp_path, text, name), dataset=LANGUAGES))


def test_term_that_is_not_understood_is_an_error(tmp_path: Path) -> None:
    word: Any
    for word in ("private", "local-onIy", "ask us", 7, True, ["local-only"], {}):
        found = only_problem(json_file(tmp_path, [entry()], transmission=word))
        assert "transmission" in str(found.field)
        assert LOCAL in found.mend
        assert '"open"' in found.mend
    assert LOCAL in only_problem(json_file(tmp_path, [entry()], colour="local only")).mend


def test_field_that_resembles_a_term_is_an_error(tmp_path: Path) -> None:
    for word in ("Transmission", "transmision", "do_not_send", "local_only"):
        for found in (
            only_problem(json_file(tmp_path, [entry()], **{word: LOCAL})),
            only_problem(json_file(tmp_path, [entry(**{word: True})])),
            only_problem(file(tmp_path, f"{TABLE}# {word}: x\n", "t.csv"), dataset=LANGUAGES),
        ):
            assert LOCAL in found.mend


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


def test_however_a_term_is_called_the_texts_stay_here(tmp_path: Path) -> None:
    for name, said in KEEPING:
        assert kept_here(load(json_file(tmp_path, [entry()], **{name: said})))
        for line in (f"# {name}: {said}", f"#{name}:{said}", f"## {name} : {said}"):
            path = file(tmp_path, f"{line}\n{TABLE}", "table.csv")
            if name == "notes":  # a remark of a person is no field
                assert LOCAL in only_problem(path, dataset=LANGUAGES).mend
            else:
                assert kept_here(load(path, dataset=LANGUAGES))
        mark = beside(tmp_path, **{name: said})
        assert kept_here(load(json_file(tmp_path, [entry()])))
        mark.unlink()


def test_however_a_term_is_called_it_must_be_understood(tmp_path: Path) -> None:
    for name, said in ASKING:
        only_problem(json_file(tmp_path, [entry()], **{name: said}))
        only_problem(file(tmp_path, f"# {name}: {said}\n{TABLE}", "table.csv"), dataset=LANGUAGES)
        mark = beside(tmp_path, **{name: said})
        only_problem(json_file(tmp_path, [entry()]))
        mark.unlink()


def test_column_of_a_term_keeps_the_texts_here(tmp_path: Path) -> None:
    for name, said, kept in (
        ("licence", "CC-BY-ND-4.0", True),
        ("usage_terms", "internal only", True),
        ("role", "test", True),
        ("usage", "do not share", True),
        ("Rights", "all rights reserved", True),
        ("usage", "informal", False),  # a column about words is no term
        ("role", "teacher", False),
        ("terms", "dog", False),
        ("access", "x", False),
    ):
        text = f"id,source,reference,{name}\n1,one,unu,{said}\n2,two,du,\n"
        assert kept_here(load(file(tmp_path, text, "table.csv"), dataset=LANGUAGES)) is kept


def test_a_remark_that_may_be_a_term_is_an_error(tmp_path: Path) -> None:
    for comment in ["# All rights reserved", "# License CC-BY-ND-4.0", "# https://creativecommons.org/licenses/by-nd/4.0",
     "# note: do not share", "#licence = CC-BY-ND-4.0", "# Licensed to the council"]:  # fmt: skip
        for text in (f"{comment}\n{TABLE}", f"{TABLE}{comment}\n"):
            only_problem(file(tmp_path, text, "table.csv"), dataset=LANGUAGES)


def test_table_says_a_term_once_and_before_the_header(tmp_path: Path) -> None:
    for text, line in (
        (f"# license: CC-BY-ND-4.0\n# License: MIT\n{TABLE}", 2),
        (f"{TABLE}# License: MIT\n", 3),
        (f"{TABLE}# transmission: {LOCAL}\n", 3),
    ):
        assert only_problem(file(tmp_path, text, "table.csv"), dataset=LANGUAGES).line == line


def test_mark_beside_a_file_that_is_not_understood_is_an_error(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry()])
    for content in (
        b"{}", b'{"by": "us"}', b'{"role":"dev","role":"test"}', b'{"transmission": "maybe"}',
        b'{"role": "unheard of"}', b'{"Transmission": "local-only"}', b'{"split": "test"}',
        b"", b"[]", b"\xff", b"{", b"[" * 100_000,
    ):  # fmt: skip
        beside(tmp_path).write_bytes(content)
        with pytest.raises(CorpusError):
            load(path)


@pytest.mark.parametrize("name", ["corpus.json", "corpus", ""])
def test_mark_beside_a_file_keeps_it_here(tmp_path: Path, name: str) -> None:
    for fields in ({"transmission": LOCAL}, {"role": "sealed"}, {"role": "test"}):
        beside(tmp_path, name, **fields)
        corpus = load(json_file(tmp_path, [entry()]))
        assert kept_here(corpus)
        assert ".champollion.json" in corpus.dataset.terms.because
    files = [file(tmp_path, "one\n", f"news.{tag}.txt") for tag in ("en", "eo")]
    beside(tmp_path, "news.eo.txt", transmission=LOCAL)
    assert kept_here(load(*files))


def test_a_term_does_not_name_the_entry_that_it_makes_secret(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, [entry(), entry("name-of-one", transmission=LOCAL)]))
    assert corpus.dataset.terms.because == f"an entry, transmission: {LOCAL}"
    found = only_problem(json_file(tmp_path, [entry(), entry("name-of-one", transmission="soon")]))
    assert "name-of-one" in str(found.field)


def test_licences_keep_the_texts_here_or_change_nothing(tmp_path: Path) -> None:
    for licence in [
        "CC-BY-ND-4.0", "CC BY-NC-ND 4.0", "proprietary", "All Rights Reserved", "local-only",
        "Creative Commons Attribution-NoDerivs", "CC-BY-4.0, do not share", "internal use only",
        "TK CR", "Kaitiakitanga License", "community-eval-grant-nc", "BC Provenance",
    ]:  # fmt: skip
        assert kept_here(load(json_file(tmp_path, [entry()], license=licence)))
    for fields in ({"license": licence}, {"provenance": {"license": licence}}):
        assert kept_here(load(json_file(tmp_path, [entry(**fields)])))
    for licence in [
        "CC0-1.0", "CC-BY-NC-SA-4.0", "CC-BY-2.0", "MIT", "Apache-2.0", "GPL-3.0-only", "unknown",
        "Public Domain", "ODbL-1.0", "OGL-UK-3.0", "", "none", "MIT No Attribution", "The MIT License",
        "https://creativecommons.org/licenses/by/4.0/", "Open Government Licence v3.0",
    ]:  # fmt: skip
        assert not kept_here(load(json_file(tmp_path, [entry()], license=licence)))


def test_licence_that_may_forbid_asks_for_a_word(tmp_path: Path) -> None:
    for licence in (
        "research only", "LicenseRef-Council", "with consent of the elders", "CC BY 4.0, TK NC", "보호됨",
        "©", "Nur mit Erlaubnis", "other", "CC BY 4.0, do not upload", "MIT, private",
    ):  # fmt: skip
        assert (
            '"transmission"' in only_problem(json_file(tmp_path, [entry()], license=licence)).mend
        )
        said = json_file(tmp_path, [entry()], license=licence, transmission=LOCAL)
        assert kept_here(load(said))


@examples(15, 100)
@given(st.text(max_size=30))
def test_any_licence_can_be_judged(licence: str) -> None:
    found, closed = licence_class(licence), licence_class(f"{licence} - do not share")
    assert found is None or found.leads_to in set(Transmission)
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


def test_filters_keep_the_order_of_the_corpus() -> None:
    for selection, positions in [
        (Selection(), (0, 1, 2, 3)),
        (Selection(segments=(Segment.DEVELOPMENT,)), (0, 2)),
        (Selection(difficulties=(1, 2)), (0, 1, 3)),
        (Selection(segments=(Segment.DEVELOPMENT,), difficulties=(3,)), (2,)),
        (Selection(entry_ids=("3", "two", 1)), (0, 1, 2)),
        (Selection(limit=2), (0, 1)),
        (Selection(limit=99, sample=99), (0, 1, 2, 3)),
        (Selection(difficulties=(1,), limit=1), (0,)),
    ]:
        assert selection.apply(MIXED) == positions


def test_a_sample_is_drawn_by_the_hash_of_seed_and_id() -> None:
    corpus = corpus_of(*(entry(number) for number in range(100)))
    lots = sorted(range(100), key=lambda n: hashlib.sha256(f"7:{n}".encode()).hexdigest())
    assert Selection(sample=10, seed=7).apply(corpus) == tuple(sorted(lots[:10]))


@examples(15, 100)
@given(size=st.integers(1, 60), seed=st.integers())
def test_a_smaller_sample_is_part_of_a_larger_one(size: int, seed: int) -> None:
    corpus = corpus_of(*(entry(f"s{number}") for number in range(60)))
    small = Selection(sample=size, seed=seed).apply(corpus)
    large = Selection(sample=min(60, size + 5), seed=seed).apply(corpus)
    assert len(small) == size
    assert set(small) <= set(large)
    assert Selection(sample=size, limit=3, seed=seed).apply(corpus) == small[:3]


def test_unknown_ids_are_named_with_those_that_exist() -> None:
    with pytest.raises(CorpusError) as caught:
        Selection(entry_ids=("1", "no\x1b[2J", 99)).apply(MIXED)
    named = [str(problem.entry) for problem in caught.value.problems]
    assert named == ["no\\x1b[2J", "99"]
    with pytest.raises(CorpusError, match=r"begins with 1, 2, 3\."):
        Selection(entry_ids=("zz",)).apply(corpus_of(*(entry(number) for number in range(1, 6))))


def test_a_selection_of_nothing_names_the_filter() -> None:
    for selection, field in [
        (Selection(segments=(Segment.HELD_OUT,)), "segment"),
        (Selection(difficulties=(5,)), "difficulty"),
        (Selection(segments=(Segment.DIAGNOSTIC,), difficulties=(1,)), "difficulty"),
        (Selection(difficulties=(6,)), "difficulty"),
        (Selection(limit=0), "limit"),
        (Selection(sample=-1), "sample"),
    ]:
        with pytest.raises(CorpusError) as caught:
            selection.apply(MIXED)
        assert [problem.field for problem in caught.value.problems] == [field]


PAGE = Path(__file__).parents[2] / "docs" / "corpora.md"


EXAMPLES = re.findall(r"```(json|jsonl|csv)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_examples_of_the_page_load(tmp_path: Path) -> None:
    assert [suffix for suffix, _ in EXAMPLES] == ["json", "jsonl", "csv"]
    for suffix, text in EXAMPLES:
        (path := tmp_path / f"example.{suffix}").write_text(text, "utf-8")
        corpus = load(path)
        assert (corpus.dataset.id, corpus.dataset.target_language) == ("greetings-v1", "eo")
        assert corpus.entries[0].source == "Good morning!"
        assert not corpus.warnings
