"""TMX and XLIFF: what translation tools write is read, and a hostile file does no harm."""

from __future__ import annotations

import gzip
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.files.problems import CorpusError
from corpora.formats.load import File, read
from corpora.model.corpus import Corpus, Form
from tests.corpora.making import file, only_problem

PAIR = {"source_language": "en", "target_language": "mi"}


def tmx(body: str, head: str = "", srclang: str = "en", before: str = "") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{before}\n<tmx version="1.4">\n'
        f'<header srclang="{srclang}" segtype="sentence" datatype="plaintext">{head}</header>\n'
        f"<body>\n{body}\n</body></tmx>\n"
    )


def unit(number: int, *texts: tuple[str, str], more: str = "") -> str:
    variants = "".join(f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>\n' for tag, text in texts)
    return f'<tu tuid="{number}">{more}{variants}</tu>\n'


def read_text(text: str | bytes, name: str, pair: Any = None) -> Corpus:
    data = text if isinstance(text, bytes) else text.encode()
    return read([File(name, data)], dataset=pair)


DOCTYPE = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_a_translation_memory_is_read(encoding: str) -> None:
    units = (
        unit(1, ("EN-GB", "Hello &amp; welcome"), ("mi", "Kia ora"), ("MI", "Tēnā koe"))
        + unit(2, ("mi", "Haere rā"), ("en-GB", "Goodbye"), more='<prop type="domain">talk</prop>')
        + unit(3, ("en-GB", "Not yet"))
        + unit(4, ("en-GB", "<bpt i='1'>&lt;b&gt;</bpt>Go<ept i='1'>&lt;/b&gt;</ept><ph/>"),
               ("mi", "<hi>Haere</hi>"), more="<note>a remark</note>")
    )  # fmt: skip
    text = tmx(units, '<prop type="license">CC0-1.0</prop>', "en-GB", DOCTYPE)
    corpus = read_text(text.encode(encoding), "memory.tmx", PAIR)
    assert corpus.form is Form.TMX
    assert [(e.id, e.source, e.reference) for e in corpus.entries] == [
        ("1", "Hello & welcome", "Kia ora"),
        ("2", "Goodbye", "Haere rā"),
        ("4", "<b>Go</b>", "Haere"),
    ]
    assert corpus.entries[1].model_extra == {"domain": "talk"}
    assert corpus.entries[2].notes == "a remark"
    assert corpus.dataset.license == "CC0-1.0"
    assert corpus.lines == (6, 10, 15)
    said = " ".join(each.message for each in corpus.warnings)
    assert "One unit has no translation and was left out" in said
    assert "One unit has inline codes" in said


def test_the_languages_of_a_memory_are_its_own_where_nobody_says_them() -> None:
    corpus = read_text(tmx(unit(1, ("quz", "Allinllachu"), ("es", "Hola")), srclang="es"), "m.tmx")
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("es", "quz")
    assert corpus.entries[0].source == "Hola"


def test_of_many_languages_one_has_to_be_said(tmp_path: Path) -> None:
    text = tmx(unit(1, ("en", "a"), ("mi", "b"), ("fr", "c")))
    problem = only_problem(file(tmp_path, text, "m.tmx"))
    assert "--target-language" in problem.mend
    assert read_text(text, "m.tmx", {"target_language": "fr"}).entries[0].reference == "c"


def test_the_one_region_of_a_language_is_taken_and_named() -> None:
    pair = {"source_language": "en", "target_language": "crk"}
    texts = (("fr-CA", "a"), ("en-US", "b"), ("crk-CA", "c"))
    corpus = read_text(tmx(unit(1, *texts), srclang="*all*"), "m.tmx", pair)
    assert (corpus.entries[0].source, corpus.entries[0].reference) == ("b", "c")
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("en", "crk")
    assert [each.message for each in corpus.warnings if "taken" in each.message] == [
        "en-US was taken for en, the language of the sources.",
        "crk-CA was taken for crk, the language of the references.",
    ]


def test_of_two_regions_both_are_named_and_the_exact_one_is_taken(tmp_path: Path) -> None:
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


def test_units_without_an_id_or_with_that_of_another_are_named_by_their_number() -> None:
    texts = (("en", "a"), ("mi", "b"))
    body = unit(1, *texts) + unit(1, *texts) + unit(7, *texts).replace(' tuid="7"', "")
    corpus = read_text(tmx(body), "m.tmx")
    assert [each.id for each in corpus.entries] == ["1", "1 (unit 2)", "unit 3"]
    (warning,) = [each for each in corpus.warnings if each.field == "id"]
    assert warning.message.startswith("2 units have no id, or that of another")


UNTRANSLATED = [
    (XLIFF_1, "<target>Kia ora koe", '<target state="needs-translation">Hello you'),
    (
        XLIFF_1,
        '<trans-unit id="1"><source>Hello',
        '<trans-unit id="1" translate="no"><source>Hello',
    ),
    (XLIFF_2, "<segment><source>I am", '<segment state="initial"><source>I am'),
    (XLIFF_2, '<unit id="u2">', '<unit id="u2" translate="no">'),
]


@pytest.mark.parametrize(("text", "whole", "marked"), UNTRANSLATED)
def test_what_a_file_calls_untranslated_is_no_reference(text: str, whole: str, marked: str) -> None:
    before, after = read_text(text, "a.xlf"), read_text(text.replace(whole, marked), "a.xlf")
    assert len(after.entries) == len(before.entries) - 1
    assert any("no translation" in each.message for each in after.warnings)


def test_both_versions_of_xliff_are_read() -> None:
    first, second = read_text(XLIFF_1, "a.xlf"), read_text(XLIFF_2, "a.txt")
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
OUTSIDE = '<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
PARAMETER = '<!DOCTYPE tmx [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]>'
PLAIN = unit(1, ("en", "a"), ("mi", "b"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (tmx(unit(1, ("en", "&b;"), ("mi", "x")), before=BOMB), "entities"),
        (tmx(unit(1, ("en", "&x;"), ("mi", "x")), before=OUTSIDE), "entities"),
        (tmx(PLAIN, before=PARAMETER), "entities"),
        (tmx(unit(1, ("en", "&undeclared;"), ("mi", "x")), before=DOCTYPE), "entities"),
        (tmx("<tu>" * 100_000), "nested"),
        (tmx(PLAIN)[:-20], "Not valid XML"),
        ("<html><tmx></tmx></html>", "no TMX"),
        (tmx(PLAIN + "<!-- held-out set -->"), "comment"),
        (tmx(PLAIN + "<!-- do not share -->"), "comment"),
        (tmx(PLAIN, '<prop type="split">test</prop>'), "secret"),
        (tmx(unit(1, ("en", "a"), ("mi", "b"), more='<prop type="x">held out</prop>')), "secret"),
        (tmx(PLAIN.replace("<tu ", '<tu partition="x" ')), "secret"),
        (gzip.compress(b"0" * 50_000_000), "gzip"),
    ],
    ids=lambda each: each[:12] if isinstance(each, str) and len(each) < 20 else "file",
)
def test_hostile_and_broken_files_are_refused_in_words(text: str | bytes, words: str) -> None:
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


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_what_a_tool_writes_comes_back(pairs: list[tuple[str, str]]) -> None:
    body = "".join(
        unit(n, ("en", escape(one)), ("mi", escape(other))) for n, (one, other) in enumerate(pairs)
    )
    with suppress(CorpusError):  # marks in a row, invisible references
        corpus = read_text(tmx(body), "a.tmx", PAIR)
        assert [(e.source, e.reference) for e in corpus.entries] == pairs


@settings(max_examples=200, deadline=None)
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
