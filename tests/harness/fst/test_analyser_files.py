"""Which analyser file is taken, and files that are none or were changed: a status and a mend, no process ended."""

import gzip
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from corpora.languages.language import LanguageCard, WritingSystem
from harness.core.failures import HarnessError
from harness.fst import model
from harness.fst.analyser import Analyser, open_analyser
from harness.fst.find import find_analyser
from harness.fst.model import AnalyserError, FstStatus
from tests.harness.fst.making import ENGINES, needs, real, written
from tests.harness.sealed.refusals import refuses
from tests.outside import DESCRIPTIVE, STRICT, skip_without
from tests.review.thorough import examples, times

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


@pytest.mark.parametrize("name", [
    "se/analyser-gt-desc.hfstol", "sme/analyser-gt-desc.hfstol.gz", "se/analyser-gt-norm.hfstol",
    "sme-analyser.hfstol", "se.hfstol", "sme/sme.hfstol", "se-Latn/se.hfstol", "se-Latn.hfstol.gz",
])  # fmt: skip
def test_places_and_names(tmp_path: Path, name: str) -> None:
    path = touch(tmp_path / name)
    assert find_analyser(CARD, "se-Latn", [tmp_path]) == path


def test_first_name_of_the_card_wins_in_its_folder(tmp_path: Path) -> None:
    assert find_analyser(CARD, "se", [tmp_path]) is None
    assert find_analyser(None, "xx", [tmp_path / "none"]) is None
    touch(tmp_path / "analyser-gt-norm.hfstol")
    touch(tmp_path / "fi" / "analyser-gt-norm.hfstol")
    assert find_analyser(CARD, "se", [tmp_path]) is None
    for name in ("se.hfstol", "analyser-gt-desc.hfstol", "analyser-gt-norm.hfstol"):
        touch(tmp_path / "se" / name)
    assert find_analyser(CARD, "se", [tmp_path]) == tmp_path / "se" / "analyser-gt-norm.hfstol"


def test_tag_cannot_lead_out_of_the_folders(tmp_path: Path) -> None:
    touch(tmp_path / "secret.hfstol")
    (tmp_path / "languages").mkdir()
    assert find_analyser(None, "../secret", [tmp_path / "languages"]) is None
    assert find_analyser(None, str(tmp_path / "secret"), [tmp_path / "languages"]) is None


def test_a_user_s_file_comes_before_the_shipped_one(tmp_path: Path) -> None:
    shipped = find_analyser(None, "epo")
    assert shipped.name == "epo.hfstol"
    own = touch(tmp_path / "epo" / "epo.hfstol")
    assert find_analyser(None, "epo", [tmp_path]) == own


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
    error = refuses(AnalyserError, words, open_analyser, path, engine)
    assert error.status is FstStatus.MODEL_INVALID
    assert str(error).startswith("Analyser crk.hfstol ")
    assert isinstance(error, HarnessError)
    assert str(tmp_path) not in str(error)


@real
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("damage", [
    lambda content: content[:1_000_000], lambda content: content[:-4],
], ids=["1 MB", "4 short"])  # fmt: skip
def test_real_file_that_is_cut(tmp_path: Path, engine: str, damage: Callable[[bytes], bytes]) -> None:  # fmt: skip
    needs(engine)
    path = tmp_path / "crk.hfstol"
    path.write_bytes(damage(DESCRIPTIVE.read_bytes()))
    error = refuses(AnalyserError, "is damaged", open_analyser, path, engine)
    assert error.status is FstStatus.MODEL_INVALID


def test_missing_file_is_not_configured_and_a_folder_no_analyser(tmp_path: Path) -> None:
    for path, status, words in (
        (tmp_path / "gone.hfstol", FstStatus.NOT_CONFIGURED, r"gone\.hfstol does not exist"),
        (tmp_path, FstStatus.MODEL_INVALID, "cannot be read"),
    ):
        assert refuses(AnalyserError, words, open_analyser, path).status is status


def test_a_file_may_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MOST_BYTES", 1000)
    path = tmp_path / "bomb.hfstol.gz"
    path.write_bytes(gzip.compress(b"\0" * 100_000))
    refuses(AnalyserError, "when unpacked", open_analyser, path)
    path.write_bytes(b"\0" * 2000)
    refuses(AnalyserError, "is larger than", open_analyser, path)


@given(st.integers(0, len(SOUND) - 1), st.integers(0, 255), st.text("ab", max_size=4))
@examples(60, 300, suppress_health_check=list(HealthCheck))
def test_changed_byte_crashes_nothing_built_in(
    tmp_path: Path, at: int, byte: int, word: str
) -> None:
    path = tmp_path / "changed.hfstol"
    path.write_bytes(SOUND[:at] + bytes([byte]) + SOUND[at + 1 :])
    with suppress(AnalyserError):
        [(accepted, analyses)] = open_analyser(path, "builtin").analyse([word])
        assert accepted or not analyses


@given(st.binary(max_size=300))
@examples(30, 100, suppress_health_check=list(HealthCheck))
def test_random_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "random.hfstol"
    path.write_bytes(content)
    refuses(AnalyserError, "", open_analyser, path)


@given(st.text(max_size=300))
@examples(40, 200)
def test_no_word_raises(word: str) -> None:
    skip_without(STRICT)
    [(accepted, analyses)] = _strict().analyse([word])
    assert accepted or not analyses


@cache
def _strict() -> Analyser:
    return open_analyser(STRICT, "builtin")


EPO = Path(__file__).parents[3] / "corpora" / "languages" / "shipped" / "epo" / "epo.hfstol"
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def flips(content: bytes, places: Iterable[int], seed: int = 3) -> list[tuple[int, int]]:
    """Return a place and a mask for each of the places: one bit, any bits, or all."""
    choice = random.Random(seed)
    return [(at, choice.choice([1 << choice.randrange(8), choice.randrange(1, 256), 255]))
            for at in places]  # fmt: skip


def signals_of(act: Callable[[int, int], None], changes: Iterable[tuple[int, int]]) -> list[str]:
    """Do something for each change in a child process of its own; gives the deaths by a signal."""
    found = []
    for at, mask in changes:
        child = os.fork()
        if not child:
            code = 3
            try:
                quiet = os.open(os.devnull, os.O_WRONLY)
                os.dup2(quiet, 1)
                os.dup2(quiet, 2)
                act(at, mask)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if status:
            told = signal.Signals(status).name if os.WIFSIGNALED(status) else "an exception"
            found.append(f"byte {at} ^ {mask:#x}: {told}")
    return found


def asking(path: Path, folder: Path, engine: str, words: list[str]) -> Callable[[int, int], None]:
    """Return what opens a changed copy of an analyser, and asks it about words."""
    content = path.read_bytes()
    copy = folder / "changed.hfstol"

    def act(at: int, mask: int) -> None:
        copy.write_bytes(content[:at] + bytes([content[at] ^ mask]) + content[at + 1 :])
        with suppress(AnalyserError):
            open_analyser(copy, engine).analyse(words)

    return act


@pytest.mark.thorough
@forks
@pytest.mark.parametrize("engine", ["builtin", "hfst"])
@pytest.mark.parametrize("path", [EPO, pytest.param(STRICT, marks=real)], ids=lambda path: path.name)  # fmt: skip
def test_no_changed_byte_ends_the_process(tmp_path: Path, path: Path, engine: str) -> None:
    """Properties and counts, the makers' header, and as many bytes of the tables."""
    needs(engine)
    open_analyser(path, engine)  # what is imported is shared by the children
    content = path.read_bytes()
    counts = 8 + int.from_bytes(content[5:7], "little")
    choice = random.Random(11)
    tables = [choice.randrange(counts + 56, len(content)) for _ in range(times(30, 120))]
    places = [*range(0, counts, times(9, 1)), *range(counts, counts + 56), *tables]
    act = asking(path, tmp_path, engine, ["hundo", "parolas", "atim", "niwâpamâw"])
    assert signals_of(act, flips(content, places)) == []


@pytest.mark.thorough
@pytest.mark.parametrize(("at", "words"), [
    (-1, "not UTF-8"), (0, "a property in its header is neither 0 nor 1"),
    (7, "a property in its header is neither 0 nor 1"),
])  # fmt: skip
@pytest.mark.parametrize("command", [["doctor"], ["language", "check", "eo"]])
def test_commands_say_what_is_wrong(
    tmp_path: Path, command: list[str], at: int, words: str
) -> None:
    """Place −1 is a letter of the makers' header, 0 … 7 a property behind ``weighted``."""
    content = bytearray(EPO.read_bytes())
    counts = 8 + int.from_bytes(content[5:7], "little")
    place = 12 if at < 0 else counts + 24 + 4 * at
    content[place] ^= 0x80 if at < 0 else 2
    folder = tmp_path / "languages" / "eo"
    folder.mkdir(parents=True)
    (folder / "epo.hfstol").write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()", *command],
        capture_output=True, text=True, check=False, env={**os.environ, "ROSETTA_HOME": str(tmp_path), "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    assert words in " ".join(done.stdout.split())
    assert "epo.hfstol" in done.stdout
