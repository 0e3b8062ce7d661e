"""TMX and XLIFF are read; whatever else is handed in, the answer is words and never an entry's text."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files import decode
from corpora.files.problems import MOST, CorpusError
from corpora.formats.load import File, load, read
from corpora.model.corpus import Form
from tests.corpora.making import LANGUAGES, PAIR, entry, file, json_file, only_problem, problems, read_text
from tests.growth import grows_less
from tests.review.thorough import examples


def test_what_is_no_corpus_is_named(tmp_path: Path) -> None:
    for content, words in [
        (b" \r\n\t", "empty"), (b"\x89PNG\r\n\x1a\n\x00\x00", "PNG"),
        ("[]".encode("utf-16") + b"\0", "Broken UTF-16"), ("[]".encode("utf-16-le"), "UTF-16"),
        ("[]".encode("utf-32"), "UTF-32"), (b'{"entries": [], "a": "\x00"}', "NUL"),
        (b'{"a":' * 100_000, "nested too deep"),
        (b'{"entries": [' + b"[" * 100_000, "nested too deep"),
        (b"[1" + b"0" * 5000 + b"]", "too many digits"), (b"3", "not a corpus"),
        (b'{"entries": {}}', "must be a list"), (b'{"dataset": {}}', "no list of entries"),
        (b'{"run_card_hash": "x", "results": []}', "run card"), (b"[] []", "extra data"),
    ]:  # fmt: skip
        assert words in only_problem(file(tmp_path, content)).message
    assert only_problem(json_file(tmp_path, [])).field == "entries"
    for name in ("missing.json", "", "\0"):
        path = Path(os.path.join(tmp_path, name))  # noqa: PTH118
        assert "cannot be read" in only_problem(path).message


def test_broken_utf8_is_named_by_line_and_offset(tmp_path: Path) -> None:
    content = "ligne\ncafé".encode() + b"\nna\xefve\n\xff"
    first, second = problems(file(tmp_path, content, "a.csv"))
    assert (first.line, second.line) == (3, 4)
    # "ligne\n" 6 bytes, "café\n" 6 bytes, "na" 2 bytes
    assert "0xef at offset 14 of the file (2 of the line)" in first.message


def test_truncated_or_invalid_json_names_its_place(tmp_path: Path) -> None:
    for text, line, column, still_open in [
        ('{"dataset": {},\n"entries": [\n{"id": 1,\n"source": "ab', 4, 11, ("1", "2", "3")),
        ('{"dataset": {},\n"entries": [\n{"id": 1}\n', 4, 1, ("1", "2")),
        ('{"dataset": {"a": 1', 1, 20, ("1", "1")),
    ]:
        problem = only_problem(file(tmp_path, text))
        assert problem.line == line
        assert f"line {line}, column {column}" in problem.message
        assert "breaks off" in problem.message
        opened = problem.message.split("still open: ")[1].rstrip(".").split(", ")
        assert tuple(part.split(" of line ")[1] for part in opened) == still_open
    problem = only_problem(file(tmp_path, '{"entries": [\n{"id": 1},\n{"id": 2,}]}'))
    assert problem.line == 3
    assert "Not valid JSON" in problem.message


def test_no_numbers_repeated_or_deep_fields_and_large_ids(tmp_path: Path) -> None:
    for number in ("NaN", "-Infinity", "1e999"):
        row = f'{{"id": 1, "source": "a", "reference": "b", "weight": {number}}}'
        assert only_problem(file(tmp_path, f"[\n{row}]"), dataset=LANGUAGES).line == 2
    row = '{"id": 1, "source": "a", "reference": "b", "source": "c"}'
    assert "twice" in only_problem(file(tmp_path, f"[{row}]"), dataset=LANGUAGES).message
    twice = '{"dataset": {}, "dataset": {}, "entries": []}'
    assert any("twice" in p.message for p in problems(file(tmp_path, twice)))
    deep = "[" * 400 + "]" * 400
    row = f'{{"id": 1, "source": "a", "reference": "b", "x": {deep}}}'
    assert "too many levels" in only_problem(file(tmp_path, f"[{row}]"), dataset=LANGUAGES).message
    assert only_problem(json_file(tmp_path, [entry(2**53)])).field == "id"
    assert load(json_file(tmp_path, [entry(2**53 - 1)])).entries[0].id == 2**53 - 1


def test_half_characters_and_nul_are_refused(tmp_path: Path) -> None:
    for escaped in ("\\ud800", "\\udc00 x", "a\\u0000b"):
        for field in ("source", "reference", "notes", "domain", "id"):
            row = json.dumps(entry(1, notes="n", domain="d") | {field: "@"}).replace("@", escaped)
            problem = only_problem(file(tmp_path, f"[{row}]"), dataset=LANGUAGES)
            assert problem.line == 1
            str(problem).encode()


def test_ids_that_act_on_terminals_come_out_harmless(tmp_path: Path) -> None:
    hostile = "\x1b[2J\u202eevil" + "x" * 500
    problem = only_problem(json_file(tmp_path, [entry(hostile, segment="no")]))
    assert str(problem).isprintable()
    assert len(str(problem.entry)) <= 60


def test_no_message_quotes_an_entry(tmp_path: Path) -> None:
    word = "KONFIDENCA"
    rows = [
        {"id": 1, "source": word, "reference": word, "segment": word, "difficulty": word},
        {"id": 2, "source": [word], "reference": {word: word}, "provenance": word},
        {"id": 3, "source": word, "reference": word, "register": word, "context": word},
        {"id": 4, "source": word, "reference": word + "\x07", "variants": word, "notes": [word]},
        {"id": [word], word: word},
        word,
    ]
    assert not any(word in str(problem) for problem in problems(json_file(tmp_path, rows)))


def test_above_the_limits_reading_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "LARGEST", 100)
    path = json_file(tmp_path, [entry(number) for number in range(10)])
    assert "larger than" in only_problem(path).message
    monkeypatch.undo()
    path = file(tmp_path, "x\n" * (MOST + 50), "a.jsonl")
    assert len(problems(path)) == MOST + 1


@examples(40, 100)
@given(data=st.binary(max_size=300), form=st.sampled_from([None, *Form]))
def test_bytes_of_any_kind_give_a_corpus_or_words(data: bytes, form: Form | None) -> None:
    _read_or_words(data, form)


_NAMES = st.sampled_from(
    ["dataset", "entries", "id", "source", "reference", "variants", "difficulty", "language_pair",
     "corpus_id", "provenance", "segment", "index", "register_"]
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(_NAMES, each, max_size=5),
    max_leaves=25,
)


@examples(18, 150)
@given(value=_JSON, form=st.sampled_from([None, *Form]))
def test_json_of_any_shape_gives_a_corpus_or_words(value: object, form: Form | None) -> None:
    _read_or_words(json.dumps(value).encode(), form)
    _read_or_words(json.dumps({"dataset": value, "entries": [value]}).encode(), form)
    _read_or_words(json.dumps({"entries": value, "language_pair": value}).encode(), form)


def _read_or_words(data: bytes, form: Form | None) -> None:
    with suppress(CorpusError):
        assert read([File("any", data)], form=form, dataset={"id": "x", **LANGUAGES}).entries


def test_tower_of_marks_is_refused_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    normalize, tower = unicodedata.normalize, "a" + "\u0301\u0316" * 150_000

    def counted(form: Any, text: str) -> str:
        asked.append(len(text))
        return normalize(form, text)

    monkeypatch.setattr(unicodedata, "normalize", counted)
    for field in ("source", "reference", "id", "note"):
        problem = only_problem(json_file(tmp_path, [entry(1), entry(2, **{field: tower})]))
        assert problem.field == field
        assert problem.entry == 2 or len(str(problem.entry)) < 100
        assert "More than 30 combining marks are in a row" in problem.message
    assert max(asked, default=0) < 1000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "corpus.tsv")
    with pytest.raises(CorpusError, match="a pipe or a device, not a file"):
        load(tmp_path / "corpus.tsv")


def tmx(body: str, head: str = "", srclang: str = "en", before: str = "") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{before}\n<tmx version="1.4">\n'
        f'<header srclang="{srclang}" segtype="sentence" datatype="plaintext">{head}</header>\n'
        f"<body>\n{body}\n</body></tmx>\n"
    )


def unit(number: int, *texts: tuple[str, str], more: str = "") -> str:
    variants = "".join(f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>\n' for tag, text in texts)
    return f'<tu tuid="{number}">{more}{variants}</tu>\n'


DOCTYPE = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'


def test_a_translation_memory_is_read() -> None:
    units = (
        unit(1, ("EN-GB", "Hello &amp; welcome"), ("mi", "Kia ora"), ("MI", "Tēnā koe"))
        + unit(2, ("mi", "Haere rā"), ("en-GB", "Goodbye"), more='<prop type="domain">talk</prop>')
        + unit(3, ("en-GB", "Not yet"))
        + unit(4, ("en-GB", "<bpt i='1'>&lt;b&gt;</bpt>Go<ept i='1'>&lt;/b&gt;</ept><ph/>"),
               ("mi", "<hi>Haere</hi>"), more="<note>a remark</note>")
    )  # fmt: skip
    text = tmx(units, '<prop type="license">CC0-1.0</prop>', "en-GB", DOCTYPE)
    corpus = read_text(text, "memory.tmx")
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le"):
        assert read_text(text.encode(encoding), "memory.tmx").entries == corpus.entries
    assert corpus.form is Form.TMX
    assert [(e.id, e.source, e.reference) for e in corpus.entries] == [
        ("1", "Hello & welcome", "Kia ora"),
        ("2", "Goodbye", "Haere rā"),
        ("4", "<b>Go</b>", "Haere"),
    ]
    assert corpus.entries[1].model_extra == {"domain": "talk"}
    assert (corpus.entries[2].notes, corpus.dataset.license) == ("a remark", "CC0-1.0")
    assert corpus.lines == (6, 10, 15)
    said = " ".join(each.message for each in corpus.warnings)
    assert "One unit has no translation and was left out" in said
    assert "One unit has inline codes" in said


def test_languages_of_a_memory_are_its_own_or_said(tmp_path: Path) -> None:
    corpus = read_text(tmx(unit(1, ("quz", "Allinllachu"), ("es", "Hola")), srclang="es"), "m.tmx", {})
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("es", "quz")
    assert corpus.entries[0].source == "Hola"
    text = tmx(unit(1, ("en", "a"), ("mi", "b"), ("fr", "c")))
    problem = only_problem(file(tmp_path, text, "m.tmx"))
    assert "--target-language" in problem.mend
    assert read_text(text, "m.tmx", {"target_language": "fr"}).entries[0].reference == "c"


def test_one_region_is_taken_and_of_two_the_exact_one(tmp_path: Path) -> None:
    pair = {"source_language": "en", "target_language": "crk"}
    texts = (("fr-CA", "a"), ("en-US", "b"), ("crk-CA", "c"))
    corpus = read_text(tmx(unit(1, *texts), srclang="*all*"), "m.tmx", pair)
    assert (corpus.entries[0].source, corpus.entries[0].reference) == ("b", "c")
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("en", "crk")
    assert [each.message for each in corpus.warnings if "taken" in each.message] == [
        "en-US was taken for en, the language of the sources.",
        "crk-CA was taken for crk, the language of the references.",
    ]
    text = tmx(unit(1, ("en-US", "a"), ("en-GB", "b"), ("mi", "c")), srclang="en")
    problem = only_problem(file(tmp_path, text, "m.tmx"), dataset=PAIR)
    assert problem.message.startswith("en-US and en-GB may each be the language of the sources, en")
    assert "--source-language en-US" in problem.mend
    british = read_text(text, "m.tmx", {"source_language": "en-GB", "target_language": "mi"})
    assert british.entries[0].source == "b"
    assert not any("taken" in each.message for each in british.warnings)


XLIFF_1 = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2" xmlns:x="urn:x">
 <file original="a" source-language="en" target-language="mi" datatype="plaintext"><body><group>
  <trans-unit id="1"><source>Hello <g id="1">you</g></source>
   <seg-source><mrk>Hello</mrk></seg-source><target>Kia ora koe</target>
   <alt-trans><source>Hi</source><target>wrong</target></alt-trans><x:source>no</x:source></trans-unit>
  <trans-unit id="2"><source>Bye</source><target></target></trans-unit>
 </group></body></file>
 <file original="b" source-language="en" target-language="mi" datatype="plaintext"><body>
  <trans-unit id="1"><source>Dog</source><target>kurī</target><note>animal</note></trans-unit>
 </body></file>
</xliff>"""

XLIFF_2 = """<xliff version="2.0" srcLang="en" trgLang="mi" xmlns="urn:oasis:names:tc:xliff:document:2.0">
 <file id="f"><unit id="u1"><notes><note>greeting</note></notes>
  <segment id="s1"><source>Hello.</source><target>Kia ora.</target></segment>
  <ignorable><source> </source></ignorable>
  <segment><source>I am <pc id="1">here</pc>.</source><target>Kei konei au.</target></segment></unit>
  <unit id="u2"><segment><source>Dog<cp hex="2019"/>s</source><target>kurī</target></segment></unit>
 </file></xliff>"""


def test_units_without_an_id_of_their_own_are_numbered() -> None:
    texts = (("en", "a"), ("mi", "b"))
    body = unit(1, *texts) + unit(1, *texts) + unit(7, *texts).replace(' tuid="7"', "")
    corpus = read_text(tmx(body), "m.tmx", {})
    assert [each.id for each in corpus.entries] == ["1", "1 (unit 2)", "unit 3"]
    (warning,) = [each for each in corpus.warnings if each.field == "id"]
    assert warning.message.startswith("2 units have no id, or that of another")


def test_what_a_file_calls_untranslated_is_no_reference() -> None:
    for text, whole, marked in (
        (XLIFF_1, "<target>Kia ora koe", '<target state="needs-translation">Hello you'),
        (XLIFF_1, 'id="1"><source>Hello', 'id="1" translate="no"><source>Hello'),
        (XLIFF_2, "<segment><source>I am", '<segment state="initial"><source>I am'),
        (XLIFF_2, '<unit id="u2">', '<unit id="u2" translate="no">'),
    ):
        before, after = (read_text(each, "a.xlf", {}) for each in (text, text.replace(whole, marked)))
        assert len(after.entries) == len(before.entries) - 1
        assert any("marks as none" in each.message for each in after.warnings)


def test_both_versions_of_xliff_are_read() -> None:
    first, second = read_text(XLIFF_1, "a.xlf", {}), read_text(XLIFF_2, "a.txt", {})
    assert [(e.id, e.source, e.reference, e.notes) for e in first.entries] == [
        ("1:1", "Hello you", "Kia ora koe", None),
        ("2:1", "Dog", "kurī", "animal"),
    ]
    assert [(e.id, e.source, e.reference, e.notes) for e in second.entries] == [
        ("u1:s1", "Hello.", "Kia ora.", "greeting"),
        ("u1:2", "I am here.", "Kei konei au.", "greeting"),
        ("u2", "Dog’s", "kurī", None),
    ]
    for corpus in (first, second):
        assert corpus.form is Form.XLIFF
        assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("en", "mi")


BOMB = DOCTYPE.replace(">", ' [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>', 1)


def test_a_region_tells_the_script_of_a_side(tmp_path: Path) -> None:
    text = tmx(
        unit(1, ("zh-CN", "中国话"), ("en", "a"))
        + unit(2, ("zh-TW", "中國話"), ("en", "b"))
        + unit(3, ("zh-HK", "話"), ("en", "c"))
    )
    pair = {"source_language": "en", "target_language": "zh-Hant"}
    assert [entry.reference for entry in read_text(text, "m.tmx", pair).entries] == ["中國話", "話"]
    (problem,) = problems(file(tmp_path, text, "m.tmx"), dataset={**pair, "target_language": "zh"})
    assert "zh-CN and zh-TW" in problem.message


def test_many_tags_and_references_take_linear_time() -> None:
    def tags(number: int) -> None:
        units = "".join(unit(at, (f"en-x-{at}", "a"), ("mi", "b")) for at in range(number))
        assert len(read_text(tmx(units), "m.tmx").entries) == number

    def references(number: int) -> None:
        row = json.dumps({"source": "a", "reference": [f"v{at}" for at in range(number)]})
        assert len(read_text(row, "m.jsonl").entries[0].variants) == number - 1

    assert grows_less(tags, 300, 1_500, 2.5)
    assert grows_less(references, 4_000, 20_000, 2.5)


OUTSIDE = '<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
PARAMETER = '<!DOCTYPE tmx [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]>'
PLAIN = unit(1, ("en", "a"), ("mi", "b"))


def test_hostile_and_broken_files_are_refused_in_words() -> None:
    text: Any
    for text, words in [
        (tmx(unit(1, ("en", "&b;"), ("mi", "x")), before=BOMB), "entities"),
        (tmx(unit(1, ("en", "&x;"), ("mi", "x")), before=OUTSIDE), "entities"),
        (tmx(PLAIN, before=PARAMETER), "entities"),
        (tmx(unit(1, ("en", "&undeclared;"), ("mi", "x")), before=DOCTYPE), "entities"),
        (tmx("<tu>" * 100_000), "nested"), (tmx(PLAIN)[:-20], "Not valid XML"),
        ("<html><tmx></tmx></html>", "no TMX"), (tmx(PLAIN + "<!-- held-out set -->"), "comment"),
        (tmx(PLAIN + "<!-- do not share -->"), "comment"),
        (tmx(PLAIN, '<prop type="split">test</prop>'), "secret"),
        (tmx(unit(1, ("en", "a"), ("mi", "b"), more='<prop type="x">held out</prop>')), "secret"),
        (tmx(PLAIN.replace("<tu ", '<tu partition="x" ')), "secret"),
        (gzip.compress(b"0" * 50_000_000), "gzip"),
    ]:  # fmt: skip
        tracemalloc.start()
        with pytest.raises(CorpusError) as caught:
            read_text(text, "a.tmx", PAIR)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert words in str(caught.value)
        assert peak < 40_000_000


TEXTS = st.text(
    st.characters(blacklist_categories=["Cs", "Cc", "Cn", "Co"], blacklist_characters="\ufeff"),
    min_size=1,
    max_size=30,
).map(str.strip).filter(str.strip)  # fmt: skip


@examples(15, 100)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_what_a_tool_writes_comes_back(pairs: list[tuple[str, str]]) -> None:
    body = "".join(unit(n, ("en", escape(one)), ("mi", escape(other))) for n, (one, other) in enumerate(pairs))
    with suppress(CorpusError):  # marks in a row, invisible references
        corpus = read_text(tmx(body), "a.tmx", PAIR)
        assert [(e.source, e.reference) for e in corpus.entries] == pairs


@examples(24, 200)
@given(
    st.lists(
        st.sampled_from(
            [b"<tmx>", b"<xliff", b" srcLang=", quoteattr("en").encode(), b"<body>", b"<tu>",
             b"<tuv xml:lang='en'>", b"<seg>", b"</seg>", b"</tuv>", b"</tu>", b"<![CDATA[", b"]]>",
             b"<!--", b"-->", b"<unit>", b"<segment>", b"<source>", b"<target/>", b"</tmx>", b"&#0;",
             b"&amp;", b"\xff", b"\0", b"<cp hex='D800'/>", b"<!ENTITY", b"<!DOCTYPE tmx [", b"]>"]
        )
        | st.binary(max_size=5),
        max_size=20,
    ),
    st.sampled_from(["a.tmx", "a.xlf"]),
)  # fmt: skip
def test_no_bytes_end_in_anything_but_words(parts: list[bytes], name: str) -> None:
    with suppress(CorpusError):
        read_text(b"".join(parts), name, PAIR)
