"""Policies are a community's choice: read exactly, hashed exactly, refused in words that say the mend."""

import os
import re
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.failures import UsageError
from review.verdict.gate.policy import MOST_BYTES, proposed, read_policy, read_policy_file

_, SHIPPED = proposed()


def test_the_shipped_policy_is_a_proposal_and_says_so() -> None:
    policy, _ = proposed()
    assert policy.status == "proposed; to be set by the governance organisation"
    assert policy.organisation == ""
    assert policy.level.share == Decimal("0.70")
    confidences = [policy.confidence(look) for look in (1, 2, 9)]
    assert confidences == [Decimal("0.95"), Decimal("0.975"), Decimal("0.975")]


def test_every_number_of_the_shipped_policy_is_called_ours() -> None:
    parts = re.split(r"^\[\w+\]$", SHIPPED.decode(), flags=re.MULTILINE)[1:]
    assert len(parts) == 6
    for part in parts:
        assert "our proposal" in part.lower() or "this is\n# a note" in part
        assert re.search(r"^# ", part, re.MULTILINE)


def test_numbers_are_as_written_whatever_the_comment() -> None:
    other = SHIPPED.replace(b"# The rule", b"# Our rule", 1)
    assert read_policy(other, "p") == read_policy(SHIPPED, "p")
    text = SHIPPED.replace(b"share = 0.70", b"share = 0.100001", 1)
    assert read_policy(text, "p").level.share == Decimal("0.100001")


WRONG = [
    ("share = 0.70", "share = 1.7", "line 18, field 'level.share': A number below 1 is wanted. Correct it."),
    ("share = 0.70", "share = 0", "field 'level.share'"),
    ("share = 0.70", "share = nan", "field 'level.share'"),
    ("share = 0.70", "share = 1e-999999999", "not valid TOML"),
    ("share = 0.70", "share = 0.7000001", "6 decimal places"),
    ("share = 0.70", 'share = "0.70"', "without quotes"),
    ("share = 0.70", "share = true", "field 'level.share'"),
    ("items = 50", "items = 50.5", "field 'enough.items'"),
    ("items = 50", "items = -1", "field 'enough.items'"),
    ("items = 50", "items = " + "9" * 5000, "not valid TOML"),
    ("items = 50", "items = = 50", "line 27"),
    ("items = 50", "items = 50\nitem = 5", "'enough.item' is not known"),
    ("reviewers = 3", "reviewers = 1", "field 'enough.reviewers'"),
    ("later_confidence = 0.975", "later_confidence = 0.9", "must not be below confidence"),
    ("community_reviewers = 5", "community_reviewers = 2", "must not be below reviewers"),
    ("[level]", "[[level]]", "level"),
    ("format = 1", "format = 2", "field 'format'"),
    ("format = 1", "format = true", "field 'format': must be a whole number"),
    ("format = 1", "format = 1.0", "field 'format': must be a whole number"),
    ("items = 50", "items = " + "[" * 50_000, "nested too deeply"),
]  # fmt: skip


def test_wrong_policy_is_refused_with_file_field_or_line() -> None:
    for right, wrong, words in WRONG:
        with pytest.raises(UsageError) as refused:
            read_policy(SHIPPED.decode().replace(right, wrong, 1).encode(), "ours.toml")
        assert "ours.toml" in str(refused.value)
        assert words in str(refused.value)
    for content, words in (
        (b"a = 1\nb = \xff", "line 2: not UTF-8"), (b"#" * 70_000, "larger than"),
        (b"", "field 'format': This field is missing. Add it."),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=words):
            read_policy(content, "ours.toml")


@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_are_read_or_refused_in_words(content: bytes) -> None:
    with pytest.raises(UsageError):
        read_policy(content, "p")


@given(st.integers(0, len(SHIPPED) - 1), st.binary(min_size=1, max_size=3))
def test_a_damaged_policy_never_crashes(place: int, bytes_: bytes) -> None:
    damaged = SHIPPED[:place] + bytes_ + SHIPPED[place + len(bytes_) :]
    with suppress(UsageError):
        assert read_policy(damaged, "p").format == 1


def test_file_is_read_once_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_policy_file(None) == proposed()
    path = tmp_path / "ours.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SHIPPED)
    policy, content = read_policy_file(path)
    assert (policy, content) == (proposed()[0], b"\xef\xbb\xbf" + SHIPPED)
    path.write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(UsageError, match=r"ours.*larger than"):
        read_policy_file(path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="a pipe or a device, not a file"):
        read_policy_file(pipe)
    reads: list[object] = []
    monkeypatch.setattr(
        "review.verdict.gate.policy.read_bytes",
        lambda *given: reads.append(given) or SHIPPED,  # type: ignore[func-returns-value]
    )
    assert read_policy_file(path) == proposed()
    assert len(reads) == 1
