"""Which analyser file is taken for a language."""

from pathlib import Path

import pytest

from corpora.languages.language import LanguageCard, WritingSystem
from harness.fst.find import find_analyser

CARD = LanguageCard(
    tag="se",
    name="Northern Sámi",
    aliases=("sme",),
    default_script="Latn",
    writings={"Latn": WritingSystem(letters="a b", cased=True)},
    analysers=("analyser-gt-norm.hfstol", "analyser-gt-desc.hfstol", "sme-analyser.hfstol"),
    sources={},
)


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


@pytest.mark.parametrize(
    "name",
    [
        "se/analyser-gt-desc.hfstol",
        "sme/analyser-gt-desc.hfstol.gz",
        "se/analyser-gt-norm.hfstol",
        "sme-analyser.hfstol",
        "se.hfstol",
        "sme/sme.hfstol",
        "se-Latn/se.hfstol",
        "se-Latn.hfstol.gz",
    ],
)
def test_places_and_names(tmp_path: Path, name: str) -> None:
    path = touch(tmp_path / name)
    assert find_analyser(CARD, "se-Latn", [tmp_path]) == path


def test_the_card_s_first_name_wins(tmp_path: Path) -> None:
    for name in ("se.hfstol", "analyser-gt-desc.hfstol", "analyser-gt-norm.hfstol"):
        touch(tmp_path / "se" / name)
    assert find_analyser(CARD, "se", [tmp_path]) == tmp_path / "se" / "analyser-gt-norm.hfstol"


def test_a_name_that_any_language_has_counts_only_in_the_language_s_folder(tmp_path: Path) -> None:
    touch(tmp_path / "analyser-gt-norm.hfstol")
    touch(tmp_path / "fi" / "analyser-gt-norm.hfstol")
    assert find_analyser(CARD, "se", [tmp_path]) is None


def test_nothing_is_found_for_a_language_without_analyser(tmp_path: Path) -> None:
    assert find_analyser(CARD, "se", [tmp_path]) is None
    assert find_analyser(None, "xx", [tmp_path / "none"]) is None


def test_a_tag_cannot_lead_out_of_the_folders(tmp_path: Path) -> None:
    touch(tmp_path / "secret.hfstol")
    (tmp_path / "languages").mkdir()
    assert find_analyser(None, "../secret", [tmp_path / "languages"]) is None
    assert find_analyser(None, str(tmp_path / "secret"), [tmp_path / "languages"]) is None


def test_a_user_s_file_comes_before_the_shipped_one(tmp_path: Path) -> None:
    shipped = find_analyser(None, "epo")
    assert shipped is not None
    assert shipped.name == "epo.hfstol"
    own = touch(tmp_path / "epo" / "epo.hfstol")
    assert find_analyser(None, "epo", [tmp_path]) == own
