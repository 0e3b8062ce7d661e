"""Files that are no analysers, or were: a status and a mend, whichever engine was to read them."""

import contextlib
import gzip
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.core.failures import HarnessError
from harness.fst import model
from harness.fst.analyser import Analyser, open_analyser
from harness.fst.model import AnalyserError, FstStatus
from tests.harness.fst.making import ENGINES, needs, real, written
from tests.outside import DESCRIPTIVE, STRICT, skip_without

SOUND = written([(0, "a", "A", 1), (1, "b", "+N", 2), (2, "", "+Sg", 3)], [3])
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4a0c3486497d\nsize 2343428\n"
BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "pointer": (POINTER, "git lfs pull"),
    "random": (bytes(range(256)) * 40, "no HFST optimized-lookup analyser"),
    "stub": (SOUND[:60], "cut off"),
    "cut header": (SOUND[:12], "cut off"),
    "cut symbols": (SOUND[: SOUND.index(b"@_EPS") + 4], "cut off"),
    "four short": (SOUND[:-4], "is damaged"),
    "half": (SOUND[: len(SOUND) // 2], "is damaged"),
    "longer": (SOUND + b"\0" * 8, "is damaged"),
    "other kind": (SOUND.replace(b"HFST_OL\0", b"TROPIC_\0"), "hfst-fst2fst -O"),
    "zip": (b"PK\x03\x04" + SOUND, "zip archive"),
    "foma": (b"##foma-net 1.0##\n", "foma"),
    "web page": (b"<!DOCTYPE html>", "web page"),
    "cut gzip": (gzip.compress(SOUND)[:-9], "damaged gzip"),
    "not UTF-8": (SOUND.replace(b"+Sg", b"\xff\xfeg"), "not UTF-8"),
    "far target": (SOUND.replace((8).to_bytes(4, "little"), b"\xff\xff\xff\x7f"), "is damaged"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_has_a_status_and_a_mend(tmp_path: Path, engine: str, kind: str) -> None:
    needs(engine)
    content, words = BAD[kind]
    path = tmp_path / "crk.hfstol"
    path.write_bytes(content)
    with pytest.raises(AnalyserError, match=words) as caught:
        open_analyser(path, engine)
    assert caught.value.status is FstStatus.MODEL_INVALID
    assert str(caught.value).startswith("Analyser crk.hfstol ")
    assert isinstance(caught.value, HarnessError)
    assert str(tmp_path) not in str(caught.value)


@real
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "damage",
    [lambda content: content[:1_000_000], lambda content: content[:-4]],
    ids=["1 MB", "4 short"],
)
def test_a_real_file_that_is_cut_off(
    tmp_path: Path, engine: str, damage: Callable[[bytes], bytes]
) -> None:
    needs(engine)
    path = tmp_path / "crk.hfstol"
    path.write_bytes(damage(DESCRIPTIVE.read_bytes()))
    with pytest.raises(AnalyserError, match="is damaged") as caught:
        open_analyser(path, engine)
    assert caught.value.status is FstStatus.MODEL_INVALID


def test_a_missing_file_is_not_configured(tmp_path: Path) -> None:
    with pytest.raises(AnalyserError, match=r"gone\.hfstol does not exist") as caught:
        open_analyser(tmp_path / "gone.hfstol")
    assert caught.value.status is FstStatus.NOT_CONFIGURED


def test_a_folder_is_no_analyser(tmp_path: Path) -> None:
    with pytest.raises(AnalyserError, match="cannot be read") as caught:
        open_analyser(tmp_path)
    assert caught.value.status is FstStatus.MODEL_INVALID


def test_a_file_may_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MOST_BYTES", 1000)
    path = tmp_path / "bomb.hfstol.gz"
    path.write_bytes(gzip.compress(b"\0" * 100_000))
    with pytest.raises(AnalyserError, match="when unpacked"):
        open_analyser(path)
    path.write_bytes(b"\0" * 2000)
    with pytest.raises(AnalyserError, match="is larger than"):
        open_analyser(path)


@given(st.integers(0, len(SOUND) - 1), st.integers(0, 255), st.text("ab", max_size=4))
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_changed_byte_never_crashes_the_built_in_engine(
    tmp_path: Path, at: int, byte: int, word: str
) -> None:
    path = tmp_path / "changed.hfstol"
    path.write_bytes(SOUND[:at] + bytes([byte]) + SOUND[at + 1 :])
    with contextlib.suppress(AnalyserError):
        [(accepted, analyses)] = open_analyser(path, "builtin").analyse([word])
        assert accepted or not analyses


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "random.hfstol"
    path.write_bytes(content)
    with pytest.raises(AnalyserError):
        open_analyser(path)


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_no_word_raises(word: str) -> None:
    skip_without(STRICT)
    [(accepted, analyses)] = _strict().analyse([word])
    assert accepted or not analyses


@cache
def _strict() -> Analyser:
    return open_analyser(STRICT, "builtin")
