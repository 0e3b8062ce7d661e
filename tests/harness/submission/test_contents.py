"""The lane of data: what is known by its first bytes, and what runs when it is read is refused."""

import io
import pickle
import zipfile
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.method.shipped import TAKES
from harness.submission.bundle import parse_submission
from harness.submission.checking import SubmissionPart, check_submission
from harness.submission.contents import DataKind, NotData, data_kind, is_tokenizer
from harness.submission.lanes import told_by
from harness.submission.manifest import DataLane
from tests.harness.methods.tiny_model import tiny_model
from tests.harness.sealed.refusals import refuses
from tests.harness.submission.made import resigned, sample_bundle


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (print, ("run",))


def _pytorch() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({}))
    return made.getvalue()


@pytest.mark.parametrize("protocol", range(2, 6))
def test_pickled_objects_are_refused_by_their_first_bytes(protocol: int) -> None:
    refuses(NotData, "pickled objects", data_kind, "data/words.tsv", pickle.dumps(Evil(), protocol=protocol))  # fmt: skip


@pytest.mark.parametrize(("path", "content", "words"), [
    ("data/m.bin", _pytorch(), "an archive, such as PyTorch's"),
    ("data/words.tsv", b"\x7fELF\x02\x01", "a program"),
    ("data/words.tsv", b"MZ\x90", "a program"), ("data/words.tsv", b"#!/bin/sh\n", "a script"),
    ("data/words.tsv", b"\x1f\x8b\x08", "compressed"),
    ("data/words.py", b"import os\n", "by its name"),
    ("data/old.pkl", b"cos\nsystem\n(S'true'\ntR.", "by its name"),
    ("data/x.pth", b"import os\n", "by its name"), ("data/words.tsv", b"a\x00b", "of no kind"),
    ("data/words.tsv", b"\xff\xfb\x90", "of no kind"),
    ("data/model.bin", b"\x06\x00\x00\x00\x10\x00notaspecification", "of no kind"),
    ("data/other.bin", b"\x06\x00\x00\x00\x10\x00TransformerSpec\x00\x07\x00", "of no kind"),
    ("data/w.safetensors", (2).to_bytes(8, "little") + b"{}", "Convert it to CTranslate2"),
])  # fmt: skip
def test_what_is_no_data_says_what_it_is(path: str, content: bytes, words: str) -> None:
    refuses(NotData, words, data_kind, path, content)


def test_what_is_read_here_is_known(tmp_path: Path) -> None:
    assert data_kind("data/words.tsv", "ŝi\tshe\n".encode()) is DataKind.TEXT
    assert data_kind("data/words.tsv", "ŝi\tshe\n".encode("utf-16")) is DataKind.TEXT
    assert data_kind("data/eo.hfstol", b"HFST\x00\x37\x00") is DataKind.ANALYSER
    pytest.importorskip("ctranslate2", reason="the extra engine is not installed")
    folder = tiny_model(tmp_path / "tiny")
    kinds = {p.name: data_kind(p.name, p.read_bytes()) for p in folder.iterdir()}
    assert kinds.pop("model.bin") is DataKind.WEIGHTS
    assert set(kinds.values()) == {DataKind.TEXT}
    assert is_tokenizer((folder / "tokenizer.json").read_bytes())
    assert not is_tokenizer((folder / "config.json").read_bytes())


def test_a_bundle_with_a_pickle_is_refused_by_the_members_name(tmp_path: Path) -> None:
    data = sample_bundle(tmp_path / "sample")
    with pytest.raises(UsageError, match=r"data/model\.txt: pickled objects"):
        parse_submission(resigned(data, {"data/model.txt": pickle.dumps(Evil())}))


@pytest.mark.parametrize("method", ["chat", "pipeline", "glossary", "ctranslate2"])
def test_where_texts_go_is_never_the_makers_to_choose(method: str) -> None:
    assert method in TAKES
    for name in ("endpoint", "prices", "body", "model"):
        with pytest.raises(UsageError, match=f"option '{name}'"):
            told_by(DataLane.model_validate({"method": method, "options": {name: "http://192.0.2.1"}}))  # fmt: skip
    with pytest.raises(UsageError, match="option 'glossary'"):
        told_by(DataLane.model_validate({"method": "pipeline", "options": {"glossary": "/etc/passwd"}}))  # fmt: skip
    with pytest.raises(UsageError, match="reads no file 'outputs'"):
        told_by(DataLane.model_validate({"method": method, "files": {"outputs": "data/x"}}))


def test_a_model_comes_with_weights_and_tokenizer(tmp_path: Path) -> None:
    data = sample_bundle(tmp_path / "sample")
    lane = {"lane": "data", "method": "ctranslate2", "options": {}, "files": {"model_folder": "data/m"}, "made_for": ""}  # fmt: skip
    begun = {"data/m/config.json": b"{}"}
    found = parse_submission(resigned(data, begun, method=lane))
    checks = {each.part: each for each in check_submission(found)}
    assert "data/m/model.bin: missing" in checks[SubmissionPart.METHOD].words
    weights = b"\x06\x00\x00\x00\x10\x00TransformerSpec\x00\x07\x00"
    more = {**begun, "data/m/model.bin": weights, "data/m/tokenizer.json": b"{}"}
    found = parse_submission(resigned(data, more, method=lane))
    checks = {each.part: each for each in check_submission(found)}
    assert "no tokenizer" in checks[SubmissionPart.METHOD].words
