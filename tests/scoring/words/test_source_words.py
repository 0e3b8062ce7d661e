"""The list of common source words is wordfreq's own, read without importing it."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest

from scoring.words import source_words
from scoring.words.source_words import MOST, source_word_list

wordfreq = pytest.importorskip("wordfreq", reason="the package wordfreq is not installed")


@pytest.mark.parametrize(
    ("tag", "code"), [("en", "en"), ("eng", "en"), ("spa-Latn", "es"), ("fin", "fi")]
)
def test_words_are_those_of_the_package(tag: str, code: str) -> None:
    words, name = source_word_list(tag)
    top = wordfreq.top_n_list(code, MOST, wordlist="small")
    wanted = {word.casefold().replace("’", "'").replace("ʼ", "'") for word in top}
    assert words == {word for word in wanted if len(word) > 1}
    assert name is not None
    assert name.endswith(f"small_{code}, 5,000 words")


@pytest.mark.parametrize("tag", ["crk", "iu-Cans", "qqq", "../../x", "", "zh", "ja"])
def test_languages_without_a_usable_list_have_none(tag: str) -> None:
    assert source_word_list(tag) == (frozenset(), None)


def test_without_the_package_there_is_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_words, "find_spec", lambda _: None)
    assert source_word_list.__wrapped__("en") == (frozenset(), None)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"\xc1", mtime=0),
        gzip.compress(msgpack.packb([{}, []]), mtime=0),
        gzip.compress(msgpack.packb(7), mtime=0),
    ],
)
def test_a_damaged_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    file = tmp_path / "small_en.msgpack.gz"
    file.write_bytes(content)
    monkeypatch.setattr(source_words, "_file", lambda _: file)
    with pytest.raises(ValueError, match=r"small_en\.msgpack\.gz .* install the package anew"):
        source_word_list.__wrapped__("en")


def test_the_package_is_never_imported() -> None:
    code = (
        "import sys; from scoring.words.source_words import source_word_list as l;"
        "assert len(l('en')[0]) > 4000; print('wordfreq' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
