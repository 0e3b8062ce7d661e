"""What became of the file of a corpus."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from corpora.files.original import Original, original
from corpora.formats.load import load
from tests.corpora.making import entry, json_file


def test_a_file_is_unchanged_changed_or_gone(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry(1)])
    corpus = load(path)
    assert corpus.files == (path,)
    assert original(corpus.files, corpus.sha256) is Original.UNCHANGED
    path.write_bytes(path.read_bytes() + b" ")
    assert original(corpus.files, corpus.sha256) is Original.CHANGED
    path.unlink()
    assert original(corpus.files, corpus.sha256) is Original.GONE
    assert original([tmp_path], corpus.sha256) is Original.GONE
    assert original([], corpus.sha256) is Original.UNKNOWN


def test_two_files_are_one_corpus(tmp_path: Path) -> None:
    first, second = tmp_path / "a.en", tmp_path / "a.eo"
    first.write_text("a\nb\n", "utf-8")
    second.write_text("c\nd\n", "utf-8")
    joined = hashlib.sha256(first.read_bytes() + second.read_bytes()).hexdigest()
    corpus = load(first, second)
    assert corpus.files == (first, second)
    assert corpus.lines == (1, 2)
    assert original([first, second], joined) is Original.UNCHANGED
    assert original([second, first], joined) is Original.CHANGED


def test_a_relative_path_is_kept_as_an_absolute_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = json_file(tmp_path, [entry(1), entry(2)])
    monkeypatch.chdir(tmp_path)
    corpus = load(path.name)
    assert corpus.files == (path,)


def test_every_warning_names_all_entries_it_is_about(tmp_path: Path) -> None:
    same = {"source": "a", "reference": "b"}
    many = [entry(number, **same) for number in range(1, 21)]
    (repeated,) = load(json_file(tmp_path, many)).warnings
    assert repeated.places == tuple(range(1, 20))
    forms = [entry(1, reference="â"), entry(2), entry(3, reference="a\u0302")]
    (mixed,) = load(json_file(tmp_path, forms)).warnings
    assert mixed.places == (2,)
