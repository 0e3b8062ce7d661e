"""Files that users name, the version in one place, and the clock that other tests rely on."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files.decode import MARKS, wide_encoding
from corpora.model.entry import Entry
from harness.annotators.comet import comet_annotator
from harness.core.failures import UsageError
from harness.core.user_file import MOST_BYTES, read_text
from harness.core.version import VERSION
from harness.endpoint.prices import Prices
from harness.inputs.coaching import holds_coaching, read_coaching
from harness.inputs.dictionary import read_dictionary, read_gloss_dictionary, read_word_list
from harness.inputs.outputs import read_outputs
from harness.inputs.prompt import load_prompt
from tests.harness.virtual_time import in_virtual_time

ENTRIES = [Entry(id=1, source="cat", reference="kato")]
ZEROES = Path("/dev/zero")

READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "dictionary": (read_dictionary, "dog\thundo\ncat\tkato\n"),
    "glosses": (read_gloss_dictionary, "hundo\tdog\nkato\tcat\n"),
    "words": (read_word_list, "hundo\nkato\n"),
    "coaching": (read_coaching, '{"notes":\n ["Ne forgesu."]}\n'),
    "scores": (comet_annotator, "0.5\n0.75\n"),
    "outputs": (lambda path: read_outputs(path, ENTRIES), "id\toutput\n1\tkato\n"),
    "prompt": (lambda path: load_prompt(str(path)), "Translate:\n{source}\n"),
    "prices": (Prices, 'source = "mine"\nprice = []\n'),
}


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Callable[[Path], object], Path]:
    read, sound = READERS[request.param]
    path = tmp_path / ("file.json" if request.param == "coaching" else "file.tsv")
    path.write_text(sound, "utf-8")
    return read, path


Reader = tuple[Callable[[Path], object], Path]


def refused(reader: Reader, said: str) -> None:
    read, path = reader
    with pytest.raises(UsageError, match=said) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_sound_file_is_read_with_a_mark_or_without(reader: Reader) -> None:
    read, path = reader
    assert read(path)
    plain = read_text(path, "it")[0]
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_text(path, "it")[0] == plain
    assert read(path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_read_by_its_mark_alone(reader: Reader, encoding: str) -> None:
    read, path = reader
    plain = read_text(path, "it")[0]
    wide = plain.encode(encoding)
    path.write_bytes(wide)
    refused(reader, r"line 1: in UTF-16, and not .* Save the file as UTF-8\.")
    path.write_bytes("\ufeff".encode(encoding) + wide)
    assert read_text(path, "it")[0] == plain
    assert read(path)
    lone = "\ud800".encode(encoding, "surrogatepass") + wide[-2:]
    path.write_bytes("\ufeff".encode(encoding) + "a\n\n".encode(encoding) + lone)
    refused(reader, r"line 3: not UTF-16\. Save")


def test_the_line_of_a_byte_that_is_not_utf8_is_named(reader: Reader) -> None:
    first, second, *rest = reader[1].read_bytes().split(b"\n")
    reader[1].write_bytes(b"\n".join([first, b"\xe2" + second, *rest]))
    refused(reader, r"line 2: not UTF-8\. Save")


def test_one_too_large_is_refused_unread(reader: Reader) -> None:
    with reader[1].open("ab") as file:
        file.truncate(
            2**40
        )  # a sparse file: it takes no place, and reading it would take all memory
    refused(reader, "larger than 256 MiB")


def test_missing_file_and_a_folder_are_refused(reader: Reader) -> None:
    reader[1].unlink()
    refused(reader, r"cannot be read \(No such file|there is no such file|neither a file nor")
    reader[1].mkdir()
    refused(reader, r"cannot be read \(|0 checkpoints|neither a file nor")


def test_what_cannot_be_read_holds_no_coaching(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    assert not holds_coaching(path)
    path.write_bytes(b'{"dictionary": {"\xff": "x"}}')
    assert not holds_coaching(path)
    path.write_text('{"dictionary": {"dog": "hundo"}}', "utf-8")
    assert holds_coaching(path)


def test_bound_itself_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 10)
    assert read_text(path, "it", 10)[0] == "x" * 10
    with pytest.raises(UsageError, match="larger than 9 bytes"):
        read_text(path, "it", 9)
    assert MOST_BYTES == 2**28
    with pytest.raises(UsageError, match="no file can have this name"):
        read_text(Path("a\0b"), "it")
    if ZEROES.exists():
        with pytest.raises(UsageError, match="a pipe or a device, not a file"):
            read_text(ZEROES, "the word list", 100)


@given(content=st.binary(max_size=60))
def test_any_bytes_are_text_or_told(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    try:
        text, sha256 = read_text(path, "it")
    except UsageError as failure:
        if wide_encoding(content) is not None:
            return
        line = int(str(failure).partition("line ")[2].partition(":")[0])
        lines = content.split(b"\n")
        b"\n".join(lines[: line - 1]).decode("utf-8")  # all before the line is sound
        with pytest.raises(UnicodeDecodeError):
            lines[line - 1].decode("utf-8")
    else:
        encoding = "utf-16" if content.startswith(MARKS) else "utf-8-sig"
        assert text == content.decode(encoding)
        assert sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_refused_and_not_waited_for(reader: Reader) -> None:
    _, path = reader
    path.unlink()
    os.mkfifo(path)
    refused(reader, "a pipe or a device, not a file|no such file|neither a file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_no_other_reader_waits_for_a_named_pipe(tmp_path: Path) -> None:
    from corpora.files.problems import CardError
    from corpora.languages.cards import read_card
    from harness.card.reading import read_card_bytes
    from harness.fst.model import AnalyserError, read_model
    from harness.method.options import MethodOptions
    from harness.methods.plugin import by_path

    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    options = MethodOptions(source_language="en", target_language="eo")
    said: list[str] = []
    for read, kind in (
        (lambda: read_card(pipe), CardError),
        (lambda: read_card_bytes(pipe), UsageError),
        (lambda: read_model(pipe), AnalyserError),
        (lambda: by_path(f"{pipe}:Method", options), UsageError),
    ):
        with pytest.raises(kind) as caught:
            read()
        said.append(str(caught.value))
    assert all("a pipe or a device, not a file" in words for words in said), said


ROOT = Path(__file__).parents[2]


def test_the_distribution_reads_its_version_where_the_cards_do() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert "version" not in project["project"]
    source = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^VERSION = "(.*)"$', source.read_text("utf-8"), re.MULTILINE) == [VERSION]


@in_virtual_time
async def test_an_hour_passes_at_once_and_in_order() -> None:
    """In real time it would take an hour."""
    seen: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, asyncio.get_running_loop().time()))

    await asyncio.gather(sleeper("late", 3600), sleeper("early", 1), sleeper("middle", 60.5))
    assert [name for name, _ in seen] == ["early", "middle", "late"]
    assert [when for _, when in seen] == pytest.approx([1, 60.5, 3600])


def test_a_deadlock_is_reported_instead_of_hanging() -> None:
    @in_virtual_time
    async def wait() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(AssertionError, match="never comes"):
        wait()
