"""The facts of the shipped cards, held against texts that people wrote."""

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterator

import pytest

from corpora.languages.cards import SHIPPED, find_card, list_cards, read_card
from corpora.languages.language import LanguageCard, WritingSystem
from corpora.languages.tags import CODES, resolve_script
from corpora.text.comparison import script_of
from corpora.text.words import words
from harness.fst.analyser import open_analyser
from harness.fst.find import find_analyser
from scoring.words.tokenizers import bleu_tokenizer
from scoring.words.violations import quotation_marks
from tests.outside import FST, TEXTS, only_with

DEMO = SHIPPED.parents[1] / "samples" / "eo-demo-v1.json"
CARDS = [read_card(path).card for path in list_cards()]
WRITINGS = [
    pytest.param(card, script, id=f"{card.tag}-{script}")
    for card in CARDS
    for script in card.writings
]
ALSO_IN = {"Jpan": {"Hiragana", "Katakana", "Han"}, "Hans": {"Han"}, "Hant": {"Han"}}
REAL = {
    "udhr_csw.xml": "Cans", "udhr_ike.xml": "Cans", "udhr_ojb.xml": "Cans", "udhr_sme.xml": "Latn",
    "ntrex-newstest2019-ref.amh.txt": "Ethi", "ntrex-newstest2019-ref.arb.txt": "Arab",
    "ntrex-newstest2019-ref.fin.txt": "Latn", "ntrex-newstest2019-ref.hin.txt": "Deva",
    "ntrex-newstest2019-ref.jpn.txt": "Jpan", "ntrex-newstest2019-ref.mri.txt": "Latn",
    "ntrex-newstest2019-ref.spa.txt": "Latn", "ntrex-newstest2019-ref.ukr.txt": "Cyrl",
    "ntrex-newstest2019-src.eng.txt": "Latn",
}  # fmt: skip

real = only_with(TEXTS)


def unicode_scripts(script: str) -> set[str]:
    return ALSO_IN.get(script) or {name for name, code in CODES.items() if code == script}


def lines(name: str) -> list[str]:
    text = (TEXTS / name).read_text("utf-8")
    if name.endswith(".xml"):
        text = re.sub(r"<[^>]*>", "\n", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))
    return unicodedata.normalize("NFC", text).split("\n")


def own_words(texts: list[str], writing: WritingSystem, script: str) -> Iterator[str]:
    scripts = unicode_scripts(script)
    for text in texts:
        for word in words(text, writing.joiners, writing.word_letters):
            letters = [letter for letter in word.text if letter.isalpha()]
            if not word.number and any(script_of(letter) in scripts for letter in letters):
                yield word.text


def fits(word: str, writing: WritingSystem) -> bool:
    spelled = set(word) <= writing.alphabet | set(writing.joiners)
    return spelled and not any(rule.stands_in(word.lower()) for rule in writing.forbidden)


def of(name: str) -> tuple[LanguageCard, str]:
    tag = re.findall(r"[._]([a-z]{3})\.", name)[0]
    found = find_card(tag)
    return found.card, str(resolve_script(tag, found.card, lines(name)))


@pytest.mark.thorough
@real
@pytest.mark.parametrize("name", REAL)
def test_people_write_with_the_letters_of_the_card(name: str) -> None:
    card, script = of(name)
    assert script == REAL[name]
    writing = card.writing(script)
    found = list(own_words(lines(name), writing, script))
    assert len(found) > 800
    assert sum(not fits(word, writing) for word in found) / len(found) < 0.02


@real
@pytest.mark.parametrize("name", [name for name in REAL if name.startswith("ntrex")])
def test_people_end_sentences_with_the_marks_of_the_card(name: str) -> None:
    card, script = of(name)
    texts = [line.strip().replace("፡፡", "።") for line in lines(name)]  # ። is often typed as ፡፡
    ends = [text.rstrip("\"'”’»」』)‟“") for text in texts if text]
    marked = sum(end[-1:] in set(card.writing(script).sentence_end) for end in ends)
    assert marked / len(ends) > 0.85


@real
@pytest.mark.parametrize("name", [name for name in REAL if name.startswith("ntrex")])
def test_most_quotation_marks_of_people_are_the_card_s(name: str) -> None:
    card, script = of(name)
    writing = card.writing(script)
    used = [mark for line in lines(name) for mark in quotation_marks(line, writing.word_letters)]
    assert len(used) > 200
    listed = set("".join(writing.quotes))
    assert sum(mark in listed for mark in used) / len(used) > 0.5


@only_with(FST)
def test_normalisation_and_glosses_are_those_of_the_real_analyser() -> None:
    found = find_card("crk")
    spelt = {
        "niwāpamāw": "niwâpamâw",
        "ēkosi": "êkosi",
        "ekosi": "êkosi",
        "nehiyawewin": "nêhiyawêwin",
    }
    for accepted, analysers in spelt.items():
        form = accepted
        for old, new in found.card.writing("Latn").normalisation:
            form = form.replace(old, new)
        assert form == analysers
    analyser = open_analyser(FST / "crk-strict-analyzer.hfstol")
    assert all(accepted for accepted, _ in analyser.analyse(list(spelt.values())))
    assert not any(accepted for accepted, _ in analyser.analyse(list(spelt)))
    words = ["kî-nipâw", "wî-nipâw", "ninipân", "niwâpamik", "atimwak", "mistikwa", "nitêminânak"]
    known = {
        tag for _, found in analyser.analyse(words) for each in found for tag in each.split("+")
    }
    table = found.card.glosses
    glosses = ["PST", "INT", "1SG", "3SG", "1SG.OBJ", "VTA", "VAI", "NA", "PL", "OBV", "INDEP"]
    assert {tag for gloss in glosses for tag in table[gloss].split("+")} <= known


def test_the_demo_is_written_by_the_rules_of_its_card() -> None:
    found = find_card("eo")
    writing = found.card.writing("Latn")
    entries = json.loads(DEMO.read_text("utf-8"))["entries"]
    texts = [text for entry in entries for text in [entry["reference"], *entry.get("variants", [])]]
    spelt = list(own_words(texts, writing, "Latn"))
    assert len(spelt) > 400
    assert [word for word in spelt if not fits(word, writing)] == []


def test_every_gloss_of_the_demo_is_in_the_table() -> None:
    found = find_card("eo")
    table = found.card.glosses
    entries = json.loads(DEMO.read_text("utf-8"))["entries"]
    glossed = [
        part
        for entry in entries
        for word in entry["morphological_analysis"].split("|")[1].split()
        for part in word.split("-")
    ]
    grammatical = {
        gloss
        for gloss in glossed
        if re.fullmatch(r"[A-Z][A-Z.]+|[123](?:[sp][gl])?(?:\.[MFN])?", gloss)
    }
    assert len(grammatical) > 25
    assert sorted(grammatical - table.keys()) == []
    page = (SHIPPED / "epo" / "README.md").read_text("utf-8")
    [told] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert tomllib.loads(told)["glosses"] == table


def test_the_tags_of_the_demo_s_glosses_are_those_of_its_analyser() -> None:
    found = find_card("eo")
    path = find_analyser(found.card, "eo")
    assert path is not None
    spelt = {
        "1sg": "mi", "2": "vi", "3sg.M": "li", "3sg.F": "ŝi", "3sg.N": "ĝi", "1pl": "ni", "3pl": "ili",
        "REFL": "si", "Q": "ĉu", "NOUN": "hundo", "ADJ": "bona", "ADV": "bone", "PL": "hundoj",
        "ACC": "hundon", "PRS": "vidas", "PST": "vidis", "FUT": "vidos", "COND": "vidus", "VOL": "vidu",
        "INF": "vidi", "PTCP.ACT.PRS": "vidanta", "PTCP.ACT.PST": "vidinta", "PTCP.PASS.PRS": "vidata",
        "PTCP.PASS.PST": "vidita",
    }  # fmt: skip
    for gloss, (accepted, analyses) in zip(
        spelt, open_analyser(path).analyse(list(spelt.values())), strict=True
    ):
        assert accepted
        wanted = set(found.card.glosses[gloss].split("+"))
        assert any(wanted <= set(analysis.split("+")) for analysis in analyses), gloss


@pytest.mark.parametrize(("card", "script"), WRITINGS)
def test_letters_are_of_the_script_that_the_section_names(card: LanguageCard, script: str) -> None:
    writing = card.writing(script)
    listed = [letter for letter in writing.native if unicodedata.category(letter)[0] == "L"]
    own = unicode_scripts(script)
    assert all(script_of(letter) in own or script_of(letter) == "Other" for letter in listed)
    assert len(listed) >= 13


@pytest.mark.parametrize(("card", "script"), WRITINGS)
def test_the_tokenizer_is_the_one_that_scoring_chooses(card: LanguageCard, script: str) -> None:
    assert card.writing(script).bleu_tokenizer == bleu_tokenizer(f"{card.tag}-{script}")


@pytest.mark.parametrize("card", CARDS, ids=[card.tag for card in CARDS])
def test_every_kind_of_fact_has_a_source(card: LanguageCard) -> None:
    least = {"letters", "foreign_letters", "cased", "quotes"}
    given = {
        name
        for name in ("loan_words", "analysers", "glosses", "affixes", "variants")
        if getattr(card, name)
    }
    for writing in card.writings.values():
        given |= {
            name
            for name in ("normalisation", "vowel_marks", "forbidden", "word_letters")
            if getattr(writing, name)
        }
    assert least | given <= card.sources.keys()


@pytest.mark.parametrize(("card", "script"), WRITINGS)
def test_what_normalisation_writes_is_in_the_alphabet(card: LanguageCard, script: str) -> None:
    writing = card.writing(script)
    known = writing.alphabet | set(writing.joiners)
    assert all(set(new) <= known for _, new in writing.normalisation)


def test_words_of_the_language_fit() -> None:
    for tag, word in [
        ("crk", "ê-kî-nipât"), ("crk", "niwāpamāw"), ("crk-Cans", "ᓂᐚᐸᒫᐤ"), ("crk-Cans", "ᓀᐦᐃᔭᐍᐏᐣ"),
        ("oj", "ma'iingan"), ("oj", "anishinaabemowin"), ("iu-Latn", "inuktitut"), ("iu", "ᐃᓄᒃᑎᑐᑦ"),
        ("sme", "čáppát"), ("sma", "gïele"), ("smj", "bådnjåt"), ("smn", "anarâškielâ"), ("sms", "sääʹmǩiõll"),
        ("grn", "avañeʼẽ"), ("grn", "mba'e"), ("que", "t'anta"), ("haw", "Hawaiʻi"), ("haw", "'ōlelo"),
        ("mri", "Aotearoa"), ("deu", "STRAẞE"), ("deu", "Straße"), ("fra", "cœur"), ("spa", "pingüino"),
        ("nob", "blåbærsyltetøy"), ("zho", "中文"), ("zh-Hant", "漢字"), ("rus", "ёжик"), ("ukr", "п'ять"),
        ("hin", "हिन्दी"), ("ara", "العربيّة"), ("amh", "አማርኛ"), ("jpn", "東京タワーへ"), ("csw", "ᐃᓂᓂᐤ"),
    ]:  # fmt: skip
        found = find_card(tag)
        writing = found.card.writing(resolve_script(tag, found.card, [word]))
        assert [each.text for each in words(word, writing.joiners, writing.word_letters)] == [word]
        assert fits(word, writing)


def test_words_that_no_one_would_write_so_do_not_fit() -> None:
    for tag, word in [
        ("crk", "nîôw"), ("crk", "nîcha"), ("crk", "straße"), ("oj", "aaanii"), ("iu-Latn", "iiinuk"),
        ("eo", "cxevalo"), ("eo", "anstataux"), ("ukr", "объект"), ("hin", "हिन্দी"), ("sme", "сámi"), ("rus", "cлово"),
        ("crk-Cans", "ᓂpᐸᐤ"), ("amh", "በUK"), ("mri", "whaпau"),
    ]:  # fmt: skip
        found = find_card(tag)
        assert not fits(word, found.card.writing(resolve_script(tag, found.card, [])))
