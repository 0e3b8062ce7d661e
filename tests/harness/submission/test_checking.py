"""What a folder and a bundle lack is said part by part, with the mend; terms are known by their bytes."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from harness.card.seal import card_hash
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.submission.bundle import RefusedBundle, parse_submission
from harness.submission.checking import PartCheck, SubmissionPart, check_submission
from harness.submission.folder import pack_folder
from tests.harness.sealed.refusals import refuses
from tests.harness.submission.made import MAKER, TERMS, resigned, sample_folder


def _checked(data: bytes, changed: dict[str, bytes | None] | None = None, **manifest: Any) -> dict[SubmissionPart, PartCheck]:  # fmt: skip
    found = parse_submission(resigned(data, changed or {}, **manifest))
    return {each.part: each for each in check_submission(found)}


def test_a_whole_submission_lacks_nothing(data: bytes) -> None:
    checks = check_submission(parse_submission(data), hashlib.sha256(TERMS).hexdigest())
    assert [each.part for each in checks] == list(SubmissionPart)
    assert all(each.ok for each in checks)
    assert not _checked(data, terms=None)[SubmissionPart.TERMS].ok
    [other] = [e for e in check_submission(parse_submission(data), "0" * 64) if e.part is SubmissionPart.TERMS]  # fmt: skip
    assert not other.ok
    assert "others were accepted" in other.words


@pytest.mark.parametrize(("readme", "words"), [
    (b"# A method\n", "no heading about its limits"),
    (b"# A method\n\n## Limitations\n\n## More\n\nmany words stand here indeed\n", "nothing stands below"),
    (b"# A method\n\n## Limitations\n\nnone\n", "nothing stands below"),
])  # fmt: skip
def test_a_readme_says_what_the_method_does_badly(data: bytes, readme: bytes, words: str) -> None:
    check = _checked(data, {"README.md": readme})[SubmissionPart.README]
    assert not check.ok
    assert words in check.words


@pytest.mark.parametrize(("size", "ok"), [(32, True), (33, False), (500, False)])
def test_so_many_texts_are_asked_at_once_and_no_more(data: bytes, size: int, ok: bool) -> None:
    lane = {"lane": "data", "method": "chat", "options": {"batch_size": size}, "files": {}, "made_for": ""}  # fmt: skip
    bundle = resigned(data, {}, method=lane)
    told = check_submission(parse_submission(bundle))
    [words] = [each.words for each in told if each.part is SubmissionPart.METHOD]
    assert ("32 texts at once at most" not in words) is ok


def _card(data: bytes, **changed: Any) -> bytes:
    card = json.loads(parse_submission(data).members["card.json"])
    for name, value in changed.items():
        block, _, key = name.rpartition("__")
        (card[block] if block else card)[key] = value
    card["run_card_hash"] = card_hash(card)
    return canonical_bytes(card)


def test_card_that_costs_more_or_cannot_be_rehearsed_is_said(data: bytes) -> None:
    for part, changed, words in (
        (SubmissionPart.COSTS, {"cost__cost_per_entry_usd": 0.5}, "0 USD an entry, and the card has 0.5"),
        (SubmissionPart.CARD, {"results": []}, "names no entries"),
        (SubmissionPart.CARD, {"scores__composite": None}, "no chrF++ or no composite"),
        (SubmissionPart.CARD, {"dataset__source_language": "fr"}, "another pair"),
    ):  # fmt: skip
        check = _checked(data, {"card.json": _card(data, **changed)})[part]
        assert not check.ok
        assert words in check.words
    broken = parse_submission(data).members["card.json"].replace(b"eo-demo-v1", b"eo-demo-v2", 1)
    check = _checked(data, {"card.json": broken})[SubmissionPart.CARD]
    assert not check.ok


@pytest.mark.parametrize(("sheet", "words"), [
    ("name = 3", "name"), ("not toml", "submission.toml"),
    ('name = "x"\nsubmitter = "y"\nlicence = "z"\nbudget = 3', "budget|method"),
])  # fmt: skip
def test_a_sheet_that_is_wrong_names_its_field(tmp_path: Path, sheet: str, words: str) -> None:
    folder = sample_folder(tmp_path / "sample")
    (folder / "submission.toml").write_text(sheet, "utf-8")
    refuses(UsageError, words, pack_folder, folder, MAKER)


def test_a_folder_with_a_link_or_without_a_card_is_not_packed(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path / "sample")
    (folder / "data" / "more.txt").symlink_to("/etc/passwd")
    refuses(RefusedBundle, r"data/more\.txt: a link", pack_folder, folder, MAKER)
    (folder / "data" / "more.txt").unlink()
    (folder / "card.json").unlink()
    refuses(RefusedBundle, r"card\.json: missing", pack_folder, folder, MAKER)
    refuses(UsageError, "no folder", pack_folder, tmp_path / "none", MAKER)


def test_what_tools_leave_behind_is_not_packed(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path / "sample", "code")
    (folder / "code" / "__pycache__").mkdir()
    (folder / "code" / "__pycache__" / "word_by_word.cpython-311.pyc").write_bytes(b"x")
    found = parse_submission(pack_folder(folder, MAKER))
    assert set(found.below("code")) == {"word_by_word.py", "words.tsv"}
