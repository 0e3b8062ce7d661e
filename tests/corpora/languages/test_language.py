"""Language cards: what a writing may say, how cards are found, and what is refused."""

from __future__ import annotations

import hashlib
import re
import string
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from corpora.files.problems import CardError, Problem
from corpora.languages import cards
from corpora.languages.cards import LanguageCard, WritingSystem, find_card, read_card, resolve_script
from corpora.languages.tags import (
    CODES,
    SHIPPED,
    as_tag,
    equal_tags,
    has_name,
    is_assigned,
    language_name,
    list_cards,
    same_language,
    shipped_names,
    tag_of,
    tag_script,
    texts_script,
)
from corpora.languages.writing import LONGEST_WORD, Forbidden, Tokenizer, graphemes, why_endless
from corpora.text.comparison import SCRIPTS, scripts
from harness.method.options import MethodOptions
from scoring.words import tokenizers
from tests.corpora.making import LEAST
from tests.growth import grows_less
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples


def writing(**fields: Any) -> WritingSystem:
    return WritingSystem.model_validate({"letters": "a b", "cased": True} | fields)


def card(**fields: Any) -> LanguageCard:
    least = {"tag": "xx", "name": "Test", "default_script": "Latn", "sources": {}}
    made = least | {"writings": {"Latn": {"letters": "a b", "cased": True}}}
    return LanguageCard.model_validate(made | fields)


def test_alphabet_has_both_cases_ranges_and_composed_letters() -> None:
    made = writing(letters="a sh ß", foreign_letters="é", word_letters="'")
    assert (made.graphemes, made.native) == (("a", "sh", "ß"), frozenset("ashßASHẞ'"))
    assert made.alphabet == made.native | frozenset("éÉ")
    assert writing(letters="a é", cased=False).alphabet == frozenset("aé")
    made = writing(letters="ᐁ-ᐄ ᑊ", cased=False)
    assert made.graphemes == ("ᐁ", "ᐂ", "ᐃ", "ᐄ", "ᑊ")
    assert writing(letters="a e\u0302 g\u0303").graphemes == ("a", "ê", "g\u0303")
    assert writing(vowel_marks=["e\u0302", "e\u0304"]).vowel_marks == ("ê", "ē")
    assert list(graphemes("a-b ch -")) == ["a", "b", "ch", "-"]


def test_what_cannot_be_meant_is_refused_in_words() -> None:
    fields: Any
    for fields, said in [
        ({"letters": " "}, "at least one character"),
        ({"letters": "z-a"}, "from a later character"),
        ({"letters": "!-\U0010ffff", "cased": False}, "holds more than"),
        ({"letters": "abcdefghijkl"}, "put spaces between"), ({"letters": "a B"}, "lower case"),
        ({"foreign_letters": "É"}, "lower case"), ({"joiners": "- "}, "white space"),
        ({"word_letters": "1"}, "a digit"), ({"quotes": ["“"]}, "opening and a closing"),
        ({"quotes": ["ab"]}, "opening and a closing"),
        ({"sentence_end": ""}, "at least one character"), ({"bleu_tokenizer": "13b"}, "'13a'"),
        ({"normalisation": [["", "a"]]}, "at least one character"),
        ({"vowel_marks": ["âê"]}, "one set alone"), ({"vowel_marks": ["âê", "ēâ"]}, "stands twice"),
        ({"direction": "up"}, "'ltr' or 'rtl'"),
        ({"forbidden": [{"pattern": "[[a]", "why": "x"}]}, "no regular expression"),
        ({"forbidden": [{"pattern": "", "why": "x"}]}, "between 1 and"),
        ({"forbidden": [{"pattern": "a" * 201, "why": "x"}]}, "between 1 and"),
        ({"forbidden": [{"pattern": "(a+)+$", "why": "x"}]}, "repeats a group"),
        ({"forbidden": [{"pattern": "a", "why": ""}]}, "at least 1 character"),
    ]:  # fmt: skip
        with pytest.raises(ValidationError, match=re.escape(said)):
            writing(**fields)
    for fields, said in [
        ({"tag": "crk-Cans"}, "two or three small letters"),
        ({"aliases": ["../x"]}, "two or three small letters"),
        ({"name": ""}, "at least 1 character"), ({"default_script": "Cans"}, "[writings.Cans]"),
        ({"writings": {}}, "at least 1 item"),
        ({"writings": {"latin": {"letters": "a", "cased": True}}}, "ISO 15924"),
        ({"loan_words": ["two words"]}, "one word"), ({"affixes": [" s"]}, "one word"),
        ({"analysers": ["../../secret.hfstol"]}, "plain file name"),
        ({"analysers": [".."]}, "plain file name"), ({"glosses": {"1 SG": "1Sg"}}, "no gloss"),
        ({"glosses": {"1SG": "1 Sg"}}, "no tag"),
        ({"sources": {"leters": "x"}}, "there is no field “leters”"),
    ]:  # fmt: skip
        with pytest.raises(ValidationError, match=re.escape(said)):
            card(**fields)


def test_glosses_scripts_and_tokenizers_of_a_card() -> None:
    assert card(glosses={"EP": "", "NA": "N+A"}).glosses == {"EP": "", "NA": "N+A"}
    made = card()
    assert made.writing("Cyrl") is made.writing(None) is made.writings["Latn"]
    assert set(get_args(Tokenizer)) == set(tokenizers.MODULES)
    used, fresh = writing(), writing()
    assert used.alphabet
    assert (used, used.model_dump()) == (fresh, fresh.model_dump())


@examples(15, 100)
@given(st.text())
def test_letters_are_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        made = writing(letters=text, cased=False)
    except ValidationError:
        return
    assert made.graphemes
    assert all(made.graphemes)
    assert set("".join(made.graphemes)) <= made.alphabet


@examples(15, 100)
@given(st.text(alphabet=string.printable, max_size=60))
def test_a_pattern_is_compiled_or_refused(text: str) -> None:
    try:
        made = writing(forbidden=[{"pattern": text, "why": "x"}])
    except ValidationError:
        return
    made.forbidden[0].stands_in("aaaaaaaaaaaaaaaaaaaaaaaaaaaa!")


def test_patterns_that_could_take_long_are_refused() -> None:
    for pattern in [
        "aaa|iii", "[âêîô].*[cs]h|[cs]h.*[âêîô]", "colou?r", "^q(?!u)", "(?<=a)b+c", r"\(*\)", "[*+]{2}", "a{3}",
        "(sch|tsch)?[a-z]*x", "x$", "[]*+|()]+a", "a{2,5}b{2,5}", "(?:a|b)(?:c|d)e*", "a*|b*|c*|d*", "{a}", "a{",
    ]:  # fmt: skip
        assert why_endless(pattern) is None
    for pattern, reason in [
        ("a*a*a*a*b", "100,000,000 ways"), ("[^b]*[^b]*x", "10,000 ways"),
        ("a{0,}a{,}b", "10,000 ways"), ("a{1,60}a{1,60}b", "3,600 ways"),
        ("a?" * 60 + "a" * 60, "ways"), ("(a|a)" * 30 + "b", "ways"), ("(a*|b*)c", "20,000 ways"),
        ("(?:x(?:a*b))a*c", "10,000 ways"), ("a*?a*+b", "10,000 ways"),
        (r"[\]a]*[]a]*b", "10,000 ways"), ("(a+)+$", "repeats a group"),
        ("(?:a|a)*b", "repeats a group"), ("(a|aa){2,9}", "repeats a group"),
        ("(a){0,1}b", "repeats a group"), (r"(a*)\1b", "refers to one"),
        ("(?x)a* # [\na*a*b", "sets flags"), ("(?i:a*)b", "sets flags"),
        ("(?P<n>a)b", "has a name"), ("(?#[)a*a*b", "is a comment"), ("(a)(?(1)b|c)", "sets flags"),
    ]:  # fmt: skip
        re.compile(pattern)
        assert reason in (why_endless(pattern) or "")


PIECES = ["a", ".", "[ab]", "[^b]", "(", "(?:", "(?=", ")", "|", "*", "+", "?", "{1,9}", "{2,}", "b", r"\w", "$"]  # fmt: skip


@examples(15, 100)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_what_is_let_through_is_fast(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error:
        return
    if not pattern or why_endless(pattern):
        return
    rule = Forbidden(pattern=pattern, why="x")

    def look(letters: int) -> None:
        for word in ("a" * letters, "ab" * (letters // 2), "a" * letters + "!"):
            rule.stands_in(word)

    assert grows_less(look, 1_000, 10_000, 12)


def test_only_the_first_letters_of_a_word_are_searched() -> None:
    rule = Forbidden(pattern="x", why="x")
    assert rule.stands_in("a" * (LONGEST_WORD - 1) + "x")
    assert not rule.stands_in("a" * LONGEST_WORD + "x")


def problems(folder: Path, text: str | bytes, name: str = "crk.toml") -> tuple[Problem, ...]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    caught = refuses(CardError, "", read_card, path)
    return caught.problems


def test_card_is_found_by_every_tag_of_its_language_alone() -> None:
    for tag, expected in {
        "crk": "crk", "crk-Cans": "crk", "crk_Latn": "crk", "CRK": "crk", "cr-Cans": "crk",
        "cre": "crk", "csw": "csw", "iku": "iu", "iu-Latn": "iu", "ike": "iu", "oji": "oj", "ciw": "oj",
        "ojb-Cans": "oj", "sme": "se", "se": "se", "sma": "sma", "smj": "smj", "smn": "smn",
        "sms": "sms", "fin": "fi", "nob": "nb", "no": "nb", "eng": "en", "en-GB": "en", "fra": "fr",
        "spa": "es", "es-419": "es", "deu": "de", "epo": "eo", "que": "qu", "quz": "qu", "grn": "gn",
        "mri": "mi", "haw": "haw", "jpn": "ja", "zho": "zh", "zh-Hant-TW": "zh", "cmn": "zh",
        "ara": "ar", "arb": "ar", "hin": "hi", "amh": "am", "rus": "ru", "ukr": "uk",
    }.items():  # fmt: skip
        assert find_card(tag).card.tag == expected
    for tag in ["xx", "", "-", "tlh", "Cree", "../crk", "crk.toml", "x-crk", "\x00"]:
        assert find_card(tag) is None


def test_one_card_is_read_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    whole = cards.shipped_card
    monkeypatch.setattr(cards, "shipped_card", lambda path: read.append(path) or whole(path))  # type: ignore[func-returns-value]
    assert find_card("arb") is not None
    assert [path.name for path in read] == ["ar.toml"]


def test_shipped_cards_have_tags_and_files_of_their_own() -> None:
    tags = [tag for path in list_cards() for tag in read_card(path).card.tags]
    for path in list_cards():
        card = read_card(path).card
        names = (card.tag, card.name, list(card.aliases), list(card.analysers))
        assert shipped_names(path) == names, "what ships is read without its model"
    assert len(tags) == len(set(tags))
    assert all(read_card(path).card.tag == path.stem for path in SHIPPED.glob("*.toml"))
    found = find_card("crk")
    assert found.sha256 == hashlib.sha256((SHIPPED / "crk.toml").read_bytes()).hexdigest()
    assert found.shipped


def test_own_card_stands_for_the_shipped_one_and_is_found(tmp_path: Path) -> None:
    (tmp_path / "crk.toml").write_text(LEAST, "utf-8")
    for tag in ("crk", "cr-Cans", "CRK-Latn"):
        found = find_card(tag, [tmp_path])
        assert (found.card.name, found.shipped) == ("Mine", False)
    assert [path for path in list_cards([tmp_path]) if path.parent == tmp_path]
    assert len(list(list_cards([tmp_path]))) == len(list(list_cards()))
    text = LEAST.replace('"crk"', '"qaa"').replace("name", 'aliases = [\n  "qab",\n]\nname', 1)
    (tmp_path / "qaa.toml").write_text(text, "utf-8")
    found = find_card("qab-Latn", [tmp_path])
    assert found.card.tag == "qaa"

    # a broken card of another language disturbs nothing
    (tmp_path / "qaa.toml").write_bytes(b"\xff\x00[[[[")
    (tmp_path / "qab.toml").mkdir()
    (tmp_path / "qac.toml").symlink_to(tmp_path / "nowhere")
    assert find_card("sme", [tmp_path]).card.tag == "se"


def test_file_of_another_language_or_no_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fi.toml").write_text(LEAST, "utf-8")
    refuses(CardError, r"named for 'fi', and its card is of 'crk'.*Rename it", find_card, "fin", [tmp_path])
    [problem] = problems(tmp_path, LEAST.replace('"Mine"', '"Mine'))
    assert problem.line == 2
    assert "no TOML" in problem.message


def test_each_problem_has_its_field_and_line(tmp_path: Path) -> None:
    for old, new, field, line, said in [
        ('name = "Mine"\n', "", "name", None, "missing"),
        ('"a b"', '"B"', "writings.Latn.letters", 6, "lower case"),
        ('"a b"', '"a b b a"', "writings.Latn.letters", 6, "“a”, “b” stands twice"),
        ("cased = false", "casd = false", "writings.Latn.casd", 7, "Is 'cased' meant?"),
        ("cased = false", "cased = 3", "writings.Latn.cased", 7, "True or false is wanted"),
        ("cased = false", 'cased = "yes"', "writings.Latn.cased", 7, "without quotation marks"),
        ("[sources]", 'quotes = "x"\n[sources]', "writings.Latn.quotes", 9, "square brackets"),
        ("[sources]", "bleu_tokenizer = 1\n[sources]", "writings.Latn.bleu_tokenizer", 9, "'13a'"),
        ("[sources]", 'vowel_marks = ["a"]\n[sources]', "writings.Latn.vowel_marks", 9, "One set"),
        ("[sources]", 'normalisation = [["x"]]\n[sources]', "writings.Latn.normalisation.0.1", 9, "a pair"),
        ("[writings.Latn]", "[writings.Latin]", "writings.Latin", 5, "no script of ISO 15924"),
        ('"Mine"', "7", "name", 2, "Text in quotation marks"),
        ("[sources]", '[sources]\nlettres = "x"', "sources", 9, "no field “lettres”"),
        ('"crk"', '"crk-Cans"', "tag", 1, "two or three small letters"),
        ('"Latn"\n', '"Cans"\n', "default_script", 3, "[writings.Cans]"),
    ]:  # fmt: skip
        text = LEAST.replace(old, new, 1)
        if said == "lower case":
            text = text.replace("cased = false", "cased = true")
        [first] = [problem for problem in problems(tmp_path, text) if said in str(problem)]
        assert str(tmp_path / "crk.toml") in str(first)
        assert field in {None, first.field or ""}
        assert line in {None, first.line}
        assert first.mend
        assert not any(word in str(first) for word in ("Input", "Value error", "tuple", "[key]"))


def test_every_problem_has_its_line_and_all_are_told(tmp_path: Path) -> None:
    table = '[[writings.Latn.forbidden]]\npattern = "{}"\nwhy = "w"\n'
    [problem] = problems(tmp_path, LEAST + table.format("a") + table.format("("))
    assert problem.line == len(LEAST.splitlines()) + 5
    assert problem.field == "writings.Latn.forbidden.1.pattern"
    text = LEAST.replace('"Mine"', '""').replace('"a b"', '"z-a"').replace("cased = false", "")
    assert len(problems(tmp_path, text)) == 3
    text = LEAST.replace('"crk"', r'"\u001b[31m\u202e"')
    text = text.replace("cased", '"\\u001b]0;x" = 1\ncased')
    assert all(str(problem).isprintable() for problem in problems(tmp_path, text))
    refuses(CardError, "cannot be read: No such file", read_card, tmp_path / "none.toml")


def test_hostile_files_are_refused_in_words(tmp_path: Path) -> None:
    for content, said in [
        (b"tag = 1\nname = \xff", "line 2: It is not UTF-8"), (b"", "missing"),
        (b"a = " + b"[" * 100_000, "nested too deeply"), (b"a = " + b"9" * 5_000, "no TOML"),
        (b"# " + b"x" * 1_000_001, "larger than 1 MB"), (b"a = 2020-13-45", "no TOML"),
    ]:  # fmt: skip
        told = "\n".join(map(str, problems(tmp_path, content)))
        assert said in told.replace(", line", " line")


@examples(15, 100)
@given(st.binary(max_size=200))
def test_content_never_raises_else(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        assert problems(Path(folder), content)


def test_script_is_that_of_tag_references_or_card() -> None:
    for tag, references, expected in [
        ("crk-Cans", ["tânisi"], "Cans"), ("crk", ["ᑖᓂᓯ"], "Cans"), ("crk", ["tânisi"], "Latn"),
        ("crk", ["12 %"], "Latn"), ("iu", [], "Cans"), ("ja", ["漢字漢字漢字漢字かな"], "Jpan"),
        ("zh", ["汉字"], "Hani"), ("zh_Hant", ["漢字"], "Hant"), ("ko", ["漢字 한국어"], "Kore"),
        ("sr", ["српски"], "Cyrl"),
    ]:  # fmt: skip
        found = find_card(tag)
        assert resolve_script(tag, found.card if found else None, scripts(references)) == expected
    assert resolve_script("xx", None, scripts(["…"])) is None
    assert texts_script({}) is None
    assert tag_script("en-x-latn") is None
    assert (set(CODES), len(set(CODES.values()))) == (set(SCRIPTS), len(CODES))


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("eng", "English"), ("quy", "Quechua"), ("ayr", "Aymara"), ("oji", "Ojibwe"), ("eng_Latn", "English"),
        ("zho_Hant", "Chinese (traditional characters)"), ("lit", "Lithuanian"), ("crk-Latn", "Plains Cree (Latin script)"),
        ("en-GB", "English (GB)"), ("nhi", "nhi"), ("xxq", "xxq"),
    ],
)  # fmt: skip
def test_prompts_name_the_language_of_every_tag(tag: str, name: str) -> None:
    assert language_name(tag) == name
    assert has_name(tag) is (name != tag)
    options = MethodOptions(source_language="en", target_language=tag)
    assert options.languages["target_language"] == name
    assert options.nameless == ({} if name != tag else {"--target-name": tag})


def test_an_option_is_read_as_a_header_is() -> None:
    for text, tag in [
        ("eng_Latn", "eng-Latn"), ("ZHO_hant", "zho-Hant"), ("English", "en"), ("plains cree", "crk"), ("maori", "mi"),
        ("quy", "quy"), ("en-latn", "en-latn"), ("no language", "no language"),
    ]:  # fmt: skip
        assert as_tag(text) == tag
    assert [tag_of(text) for text in ("id_x", "No", "mt", "run")] == [None] * 4


def test_tags_of_one_language_are_equal() -> None:
    for one, other in [("en", "eng"), ("quy", "qu"), ("eng_Latn", "en"), ("cmn", "zh-Hans"), ("Māori", "mri")]:
        assert same_language(one, other)
    for one, other in (
        ("crk-Latn", "crk-Cans"),
        ("zh-CN", "zh-Hant"),
        ("zho-TW", "cmn-Hans"),
        ("pa-PK", "pan-Guru"),
        ("cr", "crk"),
    ):
        assert not same_language(one, other)
    for one, other in (
        ("zh-TW", "cmn-Hant"),
        ("zh-HK", "zh-TW"),
        ("iw", "he-IL"),
        ("in-ID", "ind"),
        ("mo", "ro-MD"),
        ("zh-CN", "zh"),
    ):
        assert same_language(one, other)
    assert (equal_tags("eng", "en"), equal_tags("en", "en-GB")) == (True, False)
    assert [is_assigned(tag) for tag in ("nhi", "eng", "crk-Cans", "qaa", "x-own", "xxq", "zzx")] == [
        True, True, True, True, True, False, False,
    ]  # fmt: skip
