"""The facts of the shipped cards, held against texts that people wrote."""

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterator

import pytest

from corpora.languages.cards import LanguageCard, WritingSystem, find_card, read_card, resolve_script
from corpora.languages.tags import CODES, SHIPPED, list_cards
from corpora.languages.writing import why_endless
from corpora.text.comparison import script_of, scripts
from corpora.text.tokens import words
from harness.fst.analyser import open_analyser
from harness.fst.model import find_analyser
from scoring.words.tokenizers import bleu_tokenizer
from scoring.words.violations import quotation_marks
from tests.outside import FST, TEXTS, only_with
from tests.review.thorough import first

DEMO = SHIPPED.parents[1] / "samples" / "eo-demo-v1.json"
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
    return found.card, str(resolve_script(tag, found.card, scripts(lines(name))))


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
@pytest.mark.parametrize("name", first(2, (name for name in REAL if name.startswith("ntrex"))))
def test_people_write_with_the_marks_of_the_card(name: str) -> None:
    card, script = of(name)
    writing = card.writing(script)
    texts = [line.strip().replace("፡፡", "።") for line in lines(name)]  # ። is often typed as ፡፡
    ends = [text.rstrip("\"'”’»」』)‟“") for text in texts if text]
    assert sum(end[-1:] in set(writing.sentence_end) for end in ends) / len(ends) > 0.85
    used = [mark for text in texts for mark in quotation_marks(text, writing.word_letters)]
    assert len(used) > 200
    assert sum(mark in set("".join(writing.quotes)) for mark in used) / len(used) > 0.5


@only_with(FST)
def test_normalisation_and_glosses_are_those_of_the_real_analyser() -> None:
    found = find_card("crk")
    spelt = {"niwāpamāw": "niwâpamâw", "ekosi": "êkosi", "nehiyawewin": "nêhiyawêwin"}
    for accepted, analysers in spelt.items():
        form = accepted
        for old, new in found.card.writing("Latn").normalisation:
            form = form.replace(old, new)
        assert form == analysers
    analyser = open_analyser(FST / "crk-strict-analyzer.hfstol")
    assert all(accepted for accepted, _ in analyser.analyse(list(spelt.values())))
    assert not any(accepted for accepted, _ in analyser.analyse(list(spelt)))
    words = ["kî-nipâw", "wî-nipâw", "ninipân", "niwâpamik", "atimwak", "mistikwa", "nitêminânak"]
    known = {tag for _, each in analyser.analyse(words) for tag in "+".join(each).split("+")}
    table = found.card.glosses
    glosses = ["PST", "INT", "1SG", "3SG", "1SG.OBJ", "VTA", "VAI", "NA", "PL", "OBV", "INDEP"]
    assert {tag for gloss in glosses for tag in table[gloss].split("+")} <= known


def test_every_gloss_of_the_demo_is_in_the_table() -> None:
    found = find_card("eo")
    table = found.card.glosses
    entries = json.loads(DEMO.read_text("utf-8"))["entries"]
    lines = " ".join(entry["morphological_analysis"].split("|")[1] for entry in entries)
    shape = re.compile(r"[A-Z][A-Z.]+|[123](?:[sp][gl])?(?:\.[MFN])?")
    grammatical = {gloss for gloss in re.split(r"[-\s]+", lines) if shape.fullmatch(gloss)}
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
    for gloss, (accepted, analyses) in zip(spelt, open_analyser(path).analyse(list(spelt.values())), strict=True):
        assert accepted
        wanted = set(found.card.glosses[gloss].split("+"))
        assert any(wanted <= set(analysis.split("+")) for analysis in analyses), gloss


def test_facts_of_every_card_agree_and_have_a_source() -> None:
    for card in (read_card(path).card for path in list_cards()):
        of_card = ("loan_words", "analysers", "glosses", "affixes", "variants")
        given = {name for name in of_card if getattr(card, name)}
        for script, writing in card.writings.items():
            letters = [each for each in writing.native if unicodedata.category(each)[0] == "L"]
            own = {*unicode_scripts(script), "Other"}
            assert {script_of(letter) for letter in letters} <= own, (card.tag, script)
            assert len(letters) >= 13
            assert writing.bleu_tokenizer == bleu_tokenizer(f"{card.tag}-{script}")
            known = writing.alphabet | set(writing.joiners)
            assert all(set(new) <= known for _, new in writing.normalisation)
            assert not any(why_endless(rule.pattern) for rule in writing.forbidden)
            of_writing = ("normalisation", "vowel_marks", "forbidden", "word_letters")
            given |= {name for name in of_writing if getattr(writing, name)}
        assert {"letters", "foreign_letters", "cased", "quotes"} | given <= card.sources.keys()


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
        writing = found.card.writing(resolve_script(tag, found.card, scripts([word])))
        assert [each.text for each in words(word, writing.joiners, writing.word_letters)] == [word]
        assert fits(word, writing)


def test_words_that_no_one_would_write_so_do_not_fit() -> None:
    for tag, word in [
        ("crk", "nîôw"), ("crk", "nîcha"), ("crk", "straße"), ("oj", "aaanii"), ("iu-Latn", "iiinuk"),
        ("eo", "cxevalo"), ("eo", "anstataux"), ("ukr", "объект"), ("hin", "हिन্দी"), ("sme", "сámi"), ("rus", "cлово"),
        ("crk-Cans", "ᓂpᐸᐤ"), ("amh", "በUK"), ("mri", "whaпau"),
    ]:  # fmt: skip
        found = find_card(tag)
        assert not fits(word, found.card.writing(resolve_script(tag, found.card, {})))
