"""Finding, reading and refusing language cards."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files.problems import CardError, Problem
from corpora.languages import cards
from corpora.languages.cards import SHIPPED, find_card, list_cards, read_card
from corpora.languages.tags import CODES, resolve_script, tag_script, texts_script
from corpora.text.comparison import SCRIPTS
from tests.corpora.languages.least_card import LEAST


def problems(folder: Path, text: str | bytes, name: str = "crk.toml") -> tuple[Problem, ...]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CardError) as caught:
        read_card(path)
    return caught.value.problems


@pytest.mark.parametrize(
    ("tag", "expected"),
    {
        "crk": "crk", "crk-Cans": "crk", "crk_Latn": "crk", "CRK": "crk", "cr-Cans": "crk",
        "cre": "crk", "csw": "csw", "iku": "iu", "iu-Latn": "iu", "ike": "iu", "oji": "oj", "ciw": "oj",
        "ojb-Cans": "oj", "sme": "se", "se": "se", "sma": "sma", "smj": "smj", "smn": "smn",
        "sms": "sms", "fin": "fi", "nob": "nb", "no": "nb", "eng": "en", "en-GB": "en", "fra": "fr",
        "spa": "es", "es-419": "es", "deu": "de", "epo": "eo", "que": "qu", "quz": "qu", "grn": "gn",
        "mri": "mi", "haw": "haw", "jpn": "ja", "zho": "zh", "zh-Hant-TW": "zh", "cmn": "zh",
        "ara": "ar", "arb": "ar", "hin": "hi", "amh": "am", "rus": "ru", "ukr": "uk",
    }.items(),
)  # fmt: skip
def test_a_card_is_found_by_every_tag_of_its_language(tag: str, expected: str) -> None:
    found = find_card(tag)
    assert found is not None
    assert found.card.tag == expected


@pytest.mark.parametrize(
    "tag", ["xx", "", "-", "tlh", "Cree", "../crk", "crk.toml", "x-crk", "\x00"]
)
def test_no_card_is_found_for_anything_else(tag: str) -> None:
    assert find_card(tag) is None


def test_one_card_is_read_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    whole = cards.read_card
    monkeypatch.setattr(cards, "read_card", lambda path: read.append(path) or whole(path))  # type: ignore[func-returns-value]
    assert find_card("arb") is not None
    assert [path.name for path in read] == ["ar.toml"]


def test_no_two_shipped_cards_claim_one_tag() -> None:
    tags = [tag for path in list_cards() for tag in read_card(path).card.tags]
    assert len(tags) == len(set(tags))


def test_shipped_files_are_named_for_their_tag() -> None:
    assert all(read_card(path).card.tag == path.stem for path in SHIPPED.glob("*.toml"))


def test_the_hash_is_that_of_the_file() -> None:
    found = find_card("crk")
    assert found is not None
    assert found.sha256 == hashlib.sha256((SHIPPED / "crk.toml").read_bytes()).hexdigest()
    assert found.shipped


def test_a_card_of_the_user_s_stands_for_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "crk.toml").write_text(LEAST, "utf-8")
    for tag in ("crk", "cr-Cans", "CRK-Latn"):
        found = find_card(tag, [tmp_path])
        assert found is not None
        assert (found.card.name, found.shipped) == ("Mine", False)
    assert [path for path in list_cards([tmp_path]) if path.parent == tmp_path]
    assert len(list(list_cards([tmp_path]))) == len(list(list_cards()))


def test_a_card_of_the_user_s_is_found_by_its_aliases(tmp_path: Path) -> None:
    text = LEAST.replace('"crk"', '"qaa"').replace("name", 'aliases = [\n  "qab",\n]\nname', 1)
    (tmp_path / "qaa.toml").write_text(text, "utf-8")
    found = find_card("qab-Latn", [tmp_path])
    assert found is not None
    assert found.card.tag == "qaa"


def test_a_broken_card_of_another_language_disturbs_nothing(tmp_path: Path) -> None:
    (tmp_path / "qaa.toml").write_bytes(b"\xff\x00[[[[")
    (tmp_path / "qab.toml").mkdir()
    (tmp_path / "qac.toml").symlink_to(tmp_path / "nowhere")
    found = find_card("sme", [tmp_path])
    assert found is not None
    assert found.card.tag == "se"


def test_a_file_named_for_another_language_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fi.toml").write_text(LEAST, "utf-8")
    with pytest.raises(CardError, match=r"named for 'fi', and its card is of 'crk'.*Rename it"):
        find_card("fin", [tmp_path])


def test_a_line_that_is_no_toml_is_named(tmp_path: Path) -> None:
    [problem] = problems(tmp_path, LEAST.replace('"Mine"', '"Mine'))
    assert problem.line == 2
    assert "no TOML" in problem.message


@pytest.mark.parametrize(
    ("old", "new", "field", "line", "said"),
    [
        ('name = "Mine"\n', "", "name", None, "missing"),
        ('"a b"', '"B"', "writings.Latn.letters", 6, "lower case"),
        ('"a b"', '"a b b a"', "writings.Latn.letters", 6, "“a”, “b” stands twice"),
        ("cased = false", "casd = false", "writings.Latn.casd", 7, "Is 'cased' meant?"),
        ("cased = false", "cased = 3", "writings.Latn.cased", 7, "True or false is wanted"),
        ("cased = false", 'cased = "yes"', "writings.Latn.cased", 7, "without quotation marks"),
        (
            "cased = false",
            'cased = false\nquotes = "x"',
            "writings.Latn.quotes",
            8,
            "square brackets",
        ),
        (
            "cased = false",
            "cased = false\nbleu_tokenizer = 1",
            "writings.Latn.bleu_tokenizer",
            8,
            "'13a'",
        ),
        (
            "cased = false",
            'cased = false\nvowel_marks = ["a"]',
            "writings.Latn.vowel_marks",
            8,
            "One set",
        ),
        (
            "cased = false",
            'cased = false\nnormalisation = [["x"]]',
            "writings.Latn.normalisation.0.1",
            8,
            "too short: a pair",
        ),
        ("[writings.Latn]", "[writings.Latin]", "writings.Latin", 5, "no script of ISO 15924"),
        ('"Mine"', "7", "name", 2, "Text in quotation marks"),
        ("[sources]", '[sources]\nlettres = "x"', "sources", 9, "no field “lettres”"),
        ('"crk"', '"crk-Cans"', "tag", 1, "two or three small letters"),
        ('"Latn"\n', '"Cans"\n', "default_script", 3, "[writings.Cans]"),
    ],
)
def test_each_problem_has_its_field_and_line(
    tmp_path: Path, old: str, new: str, field: str | None, line: int | None, said: str
) -> None:
    text = LEAST.replace(old, new, 1)
    if said == "lower case":
        text = text.replace("cased = false", "cased = true")
    [first] = [problem for problem in problems(tmp_path, text) if said in str(problem)]
    assert str(tmp_path / "crk.toml") in str(first)
    assert field in {None, first.field or ""}
    assert line in {None, first.line}
    assert first.mend
    assert not any(jargon in str(first) for jargon in ("Input", "Value error", "tuple", "[key]"))


def test_the_second_of_two_tables_has_a_line_of_its_own(tmp_path: Path) -> None:
    table = '[[writings.Latn.forbidden]]\npattern = "{}"\nwhy = "w"\n'
    [problem] = problems(tmp_path, LEAST + table.format("a") + table.format("("))
    assert problem.line == len(LEAST.splitlines()) + 5
    assert problem.field == "writings.Latn.forbidden.1.pattern"


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = LEAST.replace('"Mine"', '""').replace('"a b"', '"z-a"').replace("cased = false", "")
    assert len(problems(tmp_path, text)) == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"tag = 1\nname = \xff", "line 2: It is not UTF-8"),
        (b"", "missing"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
        (b"a = " + b"9" * 5_000, "no TOML"),
        (b"# " + b"x" * 1_000_001, "larger than 1 MB"),
        (b"a = 2020-13-45", "no TOML"),
    ],
)
def test_hostile_files_are_refused_in_words(tmp_path: Path, content: bytes, said: str) -> None:
    told = "\n".join(map(str, problems(tmp_path, content)))
    assert said in told.replace(", line", " line")


def test_what_would_act_on_a_terminal_is_not_quoted_raw(tmp_path: Path) -> None:
    text = LEAST.replace('"crk"', r'"\u001b[31m\u202e"').replace(
        "cased", '"\\u001b]0;x" = 1\ncased'
    )
    for problem in problems(tmp_path, text):
        assert str(problem).isprintable()


def test_a_missing_file_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="cannot be read: No such file"):
        read_card(tmp_path / "crk.toml")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all files")
def test_a_file_that_may_not_be_read_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "crk.toml").write_text(LEAST, "utf-8")
    (tmp_path / "crk.toml").chmod(0)
    with pytest.raises(CardError, match="cannot be read"):
        read_card(tmp_path / "crk.toml")


@given(st.binary(max_size=200))
def test_no_content_raises_anything_else(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("cards") / "crk.toml"
    path.write_bytes(content)
    with pytest.raises(CardError):
        read_card(path)


@pytest.mark.parametrize(
    ("tag", "references", "expected"),
    [
        ("crk-Cans", ["tânisi"], "Cans"),
        ("crk", ["ᑖᓂᓯ"], "Cans"),
        ("crk", ["tânisi"], "Latn"),
        ("crk", ["12 %"], "Latn"),
        ("iu", [], "Cans"),
        ("ja", ["漢字漢字漢字漢字かな"], "Jpan"),
        ("zh", ["汉字"], "Hani"),
        ("zh_Hant", ["漢字"], "Hant"),
        ("ko", ["漢字 한국어"], "Kore"),
        ("sr", ["српски"], "Cyrl"),
    ],
)
def test_the_script_is_that_of_tag_references_or_card(
    tag: str, references: list[str], expected: str
) -> None:
    found = find_card(tag)
    assert resolve_script(tag, found.card if found else None, references) == expected


def test_without_anything_to_tell_there_is_no_script() -> None:
    assert resolve_script("xx", None, ["…"]) is None
    assert texts_script([]) is None
    assert tag_script("en-x-latn") is None


def test_every_script_that_texts_can_have_has_a_code() -> None:
    assert set(CODES) == set(SCRIPTS)
    assert len(set(CODES.values())) == len(CODES)
