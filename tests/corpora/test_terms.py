"""Terms of a corpus: what keeps its texts here, where they may go, what is selected; and its page."""

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
from corpora.model.corpus import Corpus, Dataset, Selection
from corpora.model.entry import Segment
from corpora.model.sidecar import SET_1, mark_bytes
from corpora.model.terms import Term
from corpora.model.vocabularies import Sending, Transmission, address_of, is_within, licence_class, licence_classes
from tests.corpora.making import LANGUAGES, corpus_of, entry, envelope, file, json_file, only_problem
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples

TABLE = "id,source,reference\n1,one,unu\n"


def beside(folder: Path, name: str = "corpus.json", **fields: Any) -> Path:
    path = folder / f"{name}.champollion.json"
    path.write_text(json.dumps(fields))
    return path


def kept_here(corpus: Corpus) -> bool:
    secret = {each.secret for each in corpus.entries}
    assert secret == {corpus.dataset.terms.local_only}
    return corpus.dataset.terms.local_only


def test_without_a_term_nothing_is_kept_and_the_strictest_holds(tmp_path: Path) -> None:
    for written in (LOCAL, "LOCAL_ONLY", " Local only "):
        corpus = load(json_file(tmp_path, [entry(1), entry(2)], transmission=written))
        assert kept_here(corpus)
        assert "transmission" in corpus.dataset.terms.words
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
        ("reference.json", json.dumps({"corpus_id": "made", "language_pair": {"source": "en", "target": "crk"},
                                       "transmission": LOCAL, "entries": [entry()]})),
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
        ("licence", "CC-BY-ND-4.0", True), ("usage_terms", "internal only", True),
        ("role", "test", True), ("usage", "do not share", True),
        ("Rights", "all rights reserved", True),
        ("usage", "informal", False),  # a column about words is no term
        ("role", "teacher", False), ("terms", "dog", False), ("access", "x", False),
    ):  # fmt: skip
        text = f"id,source,reference,{name}\n1,one,unu,{said}\n2,two,du,\n"
        assert kept_here(load(file(tmp_path, text, "table.csv"), dataset=LANGUAGES)) is kept


def test_a_remark_that_may_be_a_term_is_an_error(tmp_path: Path) -> None:
    for comment in (
        "# All rights reserved", "# https://creativecommons.org/licenses/by-nd/4.0",
        "# note: do not share", "#licence = CC-BY-ND-4.0", "# Licensed to the council",
    ):  # fmt: skip
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
        refuses(CorpusError, "", load, path)


def test_mark_beside_a_file_keeps_it_here(tmp_path: Path) -> None:
    for name in ("corpus.json", "corpus", ""):
        for fields in ({"transmission": LOCAL}, {"role": "sealed"}, {"role": "test"}):
            mark = beside(tmp_path, name, **fields)
            corpus = load(json_file(tmp_path, [entry()]))
            assert kept_here(corpus)
            assert ".champollion.json" in corpus.dataset.terms.because
        mark.unlink()
    files = [file(tmp_path, "one\n", f"news.{tag}.txt") for tag in ("en", "eo")]
    beside(tmp_path, "news.eo.txt", transmission=LOCAL)
    assert kept_here(load(*files))


def test_a_term_does_not_name_the_entry_that_it_makes_secret(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, [entry(), entry("name-of-one", transmission=LOCAL)]))
    assert corpus.dataset.terms.because == f"an entry, transmission: {LOCAL}"
    found = only_problem(json_file(tmp_path, [entry(), entry("name-of-one", transmission="soon")]))
    assert "name-of-one" in str(found.field)


def test_licences_keep_the_texts_here_change_nothing_or_ask(tmp_path: Path) -> None:
    for licence in ("CC BY-NC-ND 4.0", "All Rights Reserved", "Kaitiakitanga License"):
        assert kept_here(load(json_file(tmp_path, [entry()], license=licence)))
        for fields in ({"license": licence}, {"provenance": {"license": licence}}):
            assert kept_here(load(json_file(tmp_path, [entry(**fields)])))
    for licence in ("CC0-1.0", "CC-BY-NC-SA-4.0", "unknown", ""):
        assert not kept_here(load(json_file(tmp_path, [entry()], license=licence)))
    for licence in ("LicenseRef-Council", "CC BY 4.0, TK NC", "보호됨"):
        found = only_problem(json_file(tmp_path, [entry()], license=licence))
        assert '"transmission"' in found.mend
        said = json_file(tmp_path, [entry()], license=licence, transmission=LOCAL)
        assert kept_here(load(said))
    for name, leads_to in [
        ("CC-BY-ND-4.0", Transmission.LOCAL_ONLY), ("proprietary", Transmission.LOCAL_ONLY),
        ("local-only", Transmission.LOCAL_ONLY), ("internal use only", Transmission.LOCAL_ONLY),
        ("Creative Commons Attribution-NoDerivs", Transmission.LOCAL_ONLY),
        ("BC Provenance", Transmission.LOCAL_ONLY), ("CC-BY-2.0", Transmission.OPEN),
        ("Apache-2.0", Transmission.OPEN), ("Public Domain", Transmission.OPEN),
        ("ODbL-1.0", Transmission.OPEN), ("OGL-UK-3.0", Transmission.OPEN),
        ("MIT No Attribution", Transmission.OPEN), ("The MIT License", Transmission.OPEN),
        ("https://creativecommons.org/licenses/by/4.0/", Transmission.OPEN),
        ("Open Government Licence v3.0", Transmission.OPEN), ("research only", None),
        ("with consent of the elders", None), ("©", None), ("Nur mit Erlaubnis", None),
        ("CC BY 4.0, do not upload", None), ("MIT, private", None),
    ]:  # fmt: skip
        judged = licence_class(name)
        assert (judged and judged.leads_to) == leads_to, name


@examples(15, 100)
@given(st.text(max_size=30))
def test_any_licence_can_be_judged(licence: str) -> None:
    found, closed = licence_class(licence), licence_class(f"{licence} - do not share")
    assert found is None or found.leads_to in set(Transmission)
    assert closed.leads_to == Transmission.LOCAL_ONLY


def test_what_is_written_carries_the_term(tmp_path: Path) -> None:
    beside(tmp_path, role="sealed")
    corpus = load(json_file(tmp_path, [entry()]))
    (tmp_path / "elsewhere").mkdir()
    for form, suffix in (("specification", "json"), ("jsonl", "jsonl"), ("csv", "csv")):
        refuses(CorpusError, "allow-secret", write, corpus, tmp_path / "out.x", form)
        out = tmp_path / "elsewhere" / f"out.{suffix}"
        write(corpus, out, form, allow_secret=True)
        assert kept_here(load(out))
    old = Dataset.model_validate(envelope(transmission={"who": "council"}))
    assert old.terms.local_only
    assert old.terms.unclear


def test_copy_of_an_envelope_reads_its_own_terms() -> None:
    """Terms are read once, and a copy may be another corpus's."""
    opened = Dataset.model_validate(envelope(license="CC0-1.0"))
    assert not opened.terms.local_only
    assert opened.terms is opened.terms
    closed = opened.model_copy(update={"license": "CC-BY-ND-4.0"})
    assert closed.terms.local_only
    assert not closed.model_copy(update={"license": "CC0-1.0"}).terms.local_only
    assert not opened.terms.local_only
    assert opened == Dataset.model_validate(envelope(license="CC0-1.0"))


MIXED = corpus_of(
    entry(1, segment="development", difficulty=1),
    entry("two", segment="diagnostic", difficulty=2),
    entry(3, segment="development", difficulty=3),
    entry(4, difficulty=1),
)


def test_filters_keep_the_order_of_the_corpus() -> None:
    for selection, positions in [
        (Selection(), (0, 1, 2, 3)), (Selection(segments=(Segment.DEVELOPMENT,)), (0, 2)),
        (Selection(difficulties=(1, 2)), (0, 1, 3)),
        (Selection(segments=(Segment.DEVELOPMENT,), difficulties=(3,)), (2,)),
        (Selection(entry_ids=("3", "two", 1)), (0, 1, 2)), (Selection(limit=2), (0, 1)),
        (Selection(limit=99, sample=99), (0, 1, 2, 3)),
        (Selection(difficulties=(1,), limit=1), (0,)),
    ]:  # fmt: skip
        assert selection.apply(MIXED) == positions


def test_entries_of_held_out_are_never_chosen() -> None:
    corpus = corpus_of(entry(1), entry(2, segment="held_out"), entry(3, segment="gold_standard"))
    assert Selection().apply(corpus) == (0, 2)
    alone = corpus_of(entry(2, segment="held_out"))
    for held, asked in (
        (corpus, Selection(segments=(Segment.HELD_OUT, Segment.GOLD_STANDARD))),
        (corpus, Selection(entry_ids=(1, 2))), (alone, Selection()),
    ):  # fmt: skip
        refuses(CorpusError, "not used before they are activated", asked.apply, held)


def test_a_sample_is_drawn_by_the_hash_of_seed_and_id() -> None:
    corpus = corpus_of(*(entry(number) for number in range(100)))
    lots = sorted(range(100), key=lambda n: hashlib.sha256(f"7:{n}".encode()).hexdigest())
    for size in (10, 11, 99):
        taken = Selection(sample=size, seed=7).apply(corpus)
        assert taken == tuple(sorted(lots[:size]))
        assert Selection(sample=size, limit=3, seed=7).apply(corpus) == taken[:3]


def test_unknown_ids_and_a_filter_of_nothing_are_named() -> None:
    with pytest.raises(CorpusError) as caught:
        Selection(entry_ids=("1", "no\x1b[2J", 99)).apply(MIXED)
    named = [str(problem.entry) for problem in caught.value.problems]
    assert named == ["no\\x1b[2J", "99"]
    with pytest.raises(CorpusError, match=r"begins with 1, 2, 3\."):
        Selection(entry_ids=("zz",)).apply(corpus_of(*(entry(number) for number in range(1, 6))))
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


def test_examples_of_the_page_load(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "corpora.md").read_text("utf-8")
    examples = re.findall(r"```(json|jsonl|csv)\n(.*?)```", page, re.DOTALL)
    assert [suffix for suffix, _ in examples] == ["json", "jsonl", "csv"]
    for suffix, text in examples:
        (path := tmp_path / f"example.{suffix}").write_text(text, "utf-8")
        corpus = load(path)
        assert (corpus.dataset.id, corpus.dataset.target_language) == ("greetings-v1", "eo")
        assert corpus.reveal_here()[0].source == "Good morning!"
        assert not corpus.warnings


LOCAL = "local-only"
OURS = "https://translate.example.org/v1"


def test_licence_is_in_one_class_that_leads_somewhere() -> None:
    for licence, name in [
        ("CC-BY-4.0", "open"), ("CC0-1.0", "open"), ("cc-by-sa-3.0", "open"), ("GPL-3.0-only", "open"),
        ("CC-BY-NC-4.0", "non-commercial"), ("CC BY-NC-SA 4.0", "non-commercial"),
        ("Creative Commons Attribution-NonCommercial", "non-commercial"),
        ("PolyForm-Noncommercial-1.0.0", "non-commercial"),
        ("CC-BY-ND-4.0", "no-derivatives"), ("CC-BY-NC-ND-4.0", "no-derivatives"),
        ("Kaitiakitanga License", "community-only"), ("TK CR", "community-only"),
        ("community-eval-grant-nc", "community-only"), ("OCAP", "community-only"),
        ("All rights reserved", "closed"), ("CC-BY-4.0, do not share", "closed"),
        ("unknown", "unknown"), ("none", "unknown"), ("", "unknown"),
        ("LicenseRef-Council", None), ("CC BY-NC 4.0 with consent", None),
        ("CC BY 4.0, community", None), ("other", None), ("noncommercial, ask us", None),
    ]:  # fmt: skip
        found = licence_class(licence)
        assert (found.name if found else None) == name
    assert list(licence_classes()) == ["closed", "no-derivatives", "community-only", "non-commercial", "open", "unknown"]  # fmt: skip
    for each in licence_classes().values():
        assert Transmission(each.leads_to) in {Transmission.OPEN, Transmission.ASK, Transmission.LOCAL_ONLY}
        assert each.because[0].islower()
        assert all(licence_class(id_) == each for id_ in each.spdx)


def test_address_is_known_in_each_form_and_no_lookalike() -> None:
    for url in [OURS, f"{OURS}/", f"{OURS}/chat/completions", "https://TRANSLATE.example.org:443/v1", "https://translate.example.org./v1"]:  # fmt: skip
        assert is_within(url, [OURS])
    for url in [
        "https://translate.example.org.evil.net/v1", "https://translate-example.org/v1", "http://translate.example.org/v1",
        "https://translate.example.org:8443/v1", "https://translate.example.org/v10", "https://translate.example.org/v",
        "https://translate.example.org@evil.net/v1", "https://evil.net/https://translate.example.org/v1",
        "https://trаnslate.example.org/v1",  # a Cyrillic а
        "https://translate.example.org/v1/../v2", "https://translate.example.org/v1/%2e%2e/v2",
        "https://translate.example.org/v1/./x", "https://translate.example.org/v1?to=evil", "https://translate.example.org//v1",
        "https://translate.example.org\\@evil.net/v1", "https://evil.net#translate.example.org/v1", "ftp://translate.example.org/v1",
        "https://api.translate.example.org/v1", "https://translate.example.org:99999/v1", "translate.example.org/v1", "", "https://",
    ]:  # fmt: skip
        assert not is_within(url, [OURS])
    assert address_of("HTTPS://Translate.Example.org:443/v1/") == OURS
    assert address_of("http://[::1]:80/x") == "http://[::1]/x"
    assert not is_within("https://a.example/b", ["https://a.example/c", "https://b.example"])


def term(corpus: Corpus) -> tuple[Transmission, tuple[str, ...]]:
    return corpus.dataset.terms.transmission, corpus.dataset.terms.endpoints


def test_a_corpus_says_where_its_texts_may_go(tmp_path: Path) -> None:
    said: Any
    for said, led_to in [
        ("nowhere", (Transmission.NOWHERE, ())), ("ask", (Transmission.ASK, ())),
        ("Open", (Transmission.OPEN, ())), ([OURS], (Transmission.NAMED, (OURS,))),
        (f"{OURS}, https://b.example", (Transmission.NAMED, (OURS, "https://b.example"))),
    ]:  # fmt: skip
        corpus = load(json_file(tmp_path, [entry()], transmission=said, license="CC-BY-4.0"))
        assert term(corpus) == led_to
        assert corpus.entries[0].secret is led_to[0].kept_here
        again = load(json_file(tmp_path, [entry()], transmission=corpus.dataset.terms.as_written))
        assert term(again) == led_to
    for said in (
        "named", "somewhere", ["openrouter"], [OURS, "https://b.example/?x"], {},
        {"development": "soon"}, {"other": "open"}, {"development": {"development": "open"}},
    ):  # fmt: skip
        found = only_problem(json_file(tmp_path, [entry()], transmission=said))
        assert '"transmission"' in found.mend


def test_a_segment_may_go_where_others_may_not(tmp_path: Path) -> None:
    rows = [entry(1, segment="development"), entry(2, segment="diagnostic"), entry(3), entry(4, segment="gold_standard")]  # fmt: skip
    said = {"development": "open", "diagnostic": [OURS]}
    corpus = load(json_file(tmp_path, rows, transmission=said))
    assert [each.secret for each in corpus.entries] == [False, False, True, True]
    terms = corpus.dataset.terms
    assert terms.sending(Segment.DIAGNOSTIC).endpoints == (OURS,)
    assert terms.sending(None).transmission is Transmission.LOCAL_ONLY
    assert terms.as_written == said
    assert "diagnostic: open texts may be sent to" in terms.words


def mark(folder: Path, **fields: Any) -> None:
    beside(folder, **({"$schema": SET_1} | fields))


def test_a_sidecar_makes_a_corpus_stricter_and_never_freer(tmp_path: Path) -> None:
    own: Any
    beside: Any
    for own, beside, led_to in [
        ("open", {"transmission": "local-only"}, Transmission.LOCAL_ONLY),
        ([OURS], {"role": "dev"}, Transmission.NAMED),
        ("nowhere", {"role": "dev"}, Transmission.NOWHERE),
        ("open", {"tier": "sealed"}, Transmission.LOCAL_ONLY),
        ("open", {"segment": "held_out"}, Transmission.LOCAL_ONLY),
        ("open", {"tier": "public", "role": "train", "kind": "parallel", "x-note": 1}, Transmission.OPEN),
    ]:  # fmt: skip
        mark(tmp_path, **beside)
        assert term(load(json_file(tmp_path, [entry()], transmission=own)))[0] is led_to
    other = "https://b.example"
    for beside, left in ([OURS], (OURS,)), ([other], ()), ([other, OURS], (OURS,)):
        mark(tmp_path, **{"x-rosetta-transmission": beside})
        corpus = load(json_file(tmp_path, [entry()], transmission=[OURS, "https://a.example"]))
        assert (term(corpus)[1], corpus.entries[0].secret) == (left, left == ())
    for role in ("dev", "train", "input", "resource"):
        mark(tmp_path, role=role)
        assert load(json_file(tmp_path, [entry()], license="CC-BY-ND-4.0")).entries[0].secret


def test_a_term_that_is_understood_holds_for_every_segment_it_does_not_name() -> None:
    told, unknown = (Term("transmission", "x", led_to, explicit=True) for led_to in (Sending(Transmission.OPEN), None))
    named = Term("transmission", {}, None, explicit=True, segments=(("development", Sending(Transmission.OPEN)),))
    sendings = [
        told.sending("held_out"),
        unknown.sending("held_out"),
        named.sending("development"),
        named.sending("held_out"),
    ]
    kept = [sending.transmission.kept_here for sending in sendings]
    assert kept == [False, True, False, True]


def test_a_sidecar_says_who_may_learn_from_the_texts(tmp_path: Path) -> None:
    for terms, training in [
        ({"training": "not-allowed"}, False), ({"training": "allowed"}, True), ({"owner": "The council"}, None),
        ({"training": "allowed", "speakers_agreed": "not-yet"}, False), ({"speakers_agreed": "yes"}, None),
        ({"speakers_agreed": "some-said-no"}, False),
        ({"training": "allowed", "speakers_agreed": "yes", "consent_record": "r", "owner": "The council", "speakers": "we"}, True),
    ]:  # fmt: skip
        mark(tmp_path, terms=terms)
        corpus = load(json_file(tmp_path, [entry()], transmission="open"))
        assert corpus.dataset.terms.training is training
        assert corpus.dataset.terms.transmission is Transmission.OPEN
        assert load(json_file(tmp_path, [entry()], transmission="open", training=True)).dataset.terms.training is (training is not False)  # fmt: skip


def test_sidecar_not_understood_is_an_error_and_an_old_one_read(tmp_path: Path) -> None:
    fields: Any
    for fields in [{"$schema": "https://elsewhere.example"}, {"colour": "red"}, {"terms": {"training": "maybe"}}, {"tier": "x"},
     {"segment": "x"}, {"terms": {"training": "not-allowed", "also": "local-only please, ask us"}}]:  # fmt: skip
        mark(tmp_path, **fields)
        only_problem(json_file(tmp_path, [entry()], transmission="open"))
    (tmp_path / "corpus.json.champollion.json").write_text('{"terms": {"training": "not-allowed"}}')
    assert load(json_file(tmp_path, [entry()])).dataset.terms.training is False

    (tmp_path / "corpus.json.champollion.json").unlink()
    for fields in ({"training": "no"}, {"do_not_train": True}, {"training": False}):
        assert load(json_file(tmp_path, [entry()], **fields)).dataset.terms.training is False
    only_problem(json_file(tmp_path, [entry()], training="perhaps"))


def test_a_sidecar_that_is_written_is_read_back(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry()], transmission="open")
    corpus = load(path)
    told = {"transmission": "local-only", "training": "no", "owner": "The council", "role": "dev"}
    made = tmp_path / "corpus.json.champollion.json"
    made.write_bytes(mark_bytes(corpus.sha256, told))
    there = json.loads(made.read_text("utf-8"))
    assert (there["$schema"], there["sha256"]) == (SET_1, corpus.sha256)
    assert there["terms"] == {"training": "not-allowed", "owner": "The council"}
    again = load(path)
    assert again.entries[0].secret
    assert again.dataset.terms.training is False

    said: Any
    for said, for_others in [("ask", LOCAL), ([OURS], LOCAL), (LOCAL, LOCAL), ("open", None)]:
        path = json_file(tmp_path, [entry()])
        written = mark_bytes(corpus.sha256, {"transmission": said})
        made.write_bytes(written)
        assert json.loads(written).get("transmission") == for_others, "the stricter, there"
        assert load(path).dataset.terms.as_written == said
