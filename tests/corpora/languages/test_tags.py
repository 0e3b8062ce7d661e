"""Tags and names: one table for headers, options, prompts and equality."""

import pytest

from corpora.languages.tags import (
    as_tag,
    equal_tags,
    has_name,
    is_assigned,
    language_name,
    same_language,
    tag_of,
)
from harness.method.options import MethodOptions


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
    for one, other in [
        ("en", "eng"),
        ("quy", "qu"),
        ("eng_Latn", "en"),
        ("cmn", "zh-Hans"),
        ("Māori", "mri"),
    ]:
        assert same_language(one, other)
    assert not same_language("crk-Latn", "crk-Cans")
    assert (equal_tags("eng", "en"), equal_tags("en", "en-GB")) == (True, False)
    assert [is_assigned(tag) for tag in ("nhi", "eng", "crk-Cans", "qaa", "x-own", "xxq", "zzx")] == [
        True, True, True, True, True, False, False,
    ]  # fmt: skip
