"""COMET scores from files, and from a checkpoint behind the library's interface."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry, Segment
from harness.annotators.comet import CometModel, CometScores, comet_annotator
from harness.core.failures import HarnessError, UsageError
from scoring.core.translation import Translation
from tests.harness.annotators.embedded import Kept


def translation(id_: int | str, output: str = "x", segment: Segment | None = None) -> Translation:
    return Translation(Entry(id=id_, source="s", reference="r", segment=segment), output)


def scores(tmp_path: Path, name: str, content: str) -> CometScores:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    made = comet_annotator(path)
    assert isinstance(made, CometScores)
    return made


FORMS = [
    ("scores.txt", "0.5\n0.25\n0.75\n"),
    ("scores.txt", "\ufeff# made elsewhere\r\n0.5\r\n\r\n0.25\r\n0.75"),
    ("scores.tsv", "id\tscore\n3\t0.75\n1\t0.5\n2\t0.25\n"),
    ("scores.csv", "3,0.75\n1, 0.5\n2,2.5e-1\n"),
    ("scores.jsonl", '{"id": 3, "score": 0.75}\n{"id": "1", "score": 0.5}\n\n{"id": 2, "score": 0.25}\n'),
    ("scores.jsonl", "0.5\n0.25\n0.75\n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content"), FORMS)
def test_forms_of_a_file(tmp_path: Path, name: str, content: str) -> None:
    made = scores(tmp_path, name, content)
    assert made.annotate([translation(1), translation("2"), translation(3)]) == [0.5, 0.25, 0.75]
    assert made.facts.imported
    assert made.facts.model == name
    assert len(made.facts.sha256 or "") == 64


def test_an_empty_output_is_nothing_whatever_the_file_says(tmp_path: Path) -> None:
    made = scores(tmp_path, "s.tsv", "1\t0.9\n")
    assert made.annotate([translation(1, " "), translation(2, "")]) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("s.txt", "0.5\nx\n", "line 2: the score is no finite number"),
        ("s.txt", "0.5\nnan\n", "line 2: the score is no finite number"),
        ("s.txt", "0.5\n\n81.2\n", "line 3: 81.2 is not on COMET's scale"),
        ("s.txt", "-0.9\n", "line 1: -0.9 is not on COMET's scale"),
        ("s.txt", "# nothing\n", "there are no scores"),
        ("s.tsv", "1\t0.5\n1\t0.6\n", "line 2: this entry has a score already"),
        ("s.tsv", "1\t0.5\n0.6\n", "some lines have ids"),
        ("s.tsv", "1\ta\t0.5\n", "line 1: an id and a score are wanted"),
        ("s.jsonl", '{"id": 1}\n', 'line 1: the fields "id" and "score"'),
        ("s.jsonl", '{"id": 1, "score": 0.5}\n{"id"', "line 2: not JSON"),
        ("s.jsonl", '{"id": 1, "score": true}\n', "line 1: the score is no finite number"),
        ("s.jsonl", '{"id": 1, "score": [' + "[" * 100_000 + "\n", "line 1: not JSON"),
        ("s.csv", '1,"0.5\n2,0.6\n', "line"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        scores(tmp_path, name, content)


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    path.write_bytes(b"0.5\n\xff\xfe\n")
    with pytest.raises(UsageError, match="line 2: not UTF-8"):
        comet_annotator(path)


def test_scores_of_other_outputs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are 2 scores, and the run has 3 entries"):
        scores(tmp_path, "s.txt", "0.5\n0.6\n").annotate([translation(id_) for id_ in range(3)])
    with pytest.raises(UsageError, match="1 of the run's 2 entries have no score"):
        scores(tmp_path, "s.tsv", "1\t0.5\n7\t0.6\n").annotate([translation(1), translation(2)])


@pytest.mark.parametrize("name", ["", "missing.tsv"])
def test_what_is_no_file_of_scores_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"no such file|0 checkpoints"):
        comet_annotator(tmp_path / name)


def test_a_checkpoint_without_the_library_names_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.ckpt"
    path.write_bytes(b"x")
    for module in (None, types.ModuleType("comet")):  # the second: another package of that name
        monkeypatch.setitem(sys.modules, "comet", module)
        with pytest.raises(UsageError, match=r"unbabel-comet.*file of scores"):
            comet_annotator(path)


class Model:
    """Answers as ``predict`` of the library does."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.give: Any = None

    def predict(self, data: list[dict[str, str]], **options: Any) -> dict[str, Any]:
        assert options == {"batch_size": 8, "gpus": 0, "progress_bar": False}
        self.asked += data
        if callable(self.give):
            return dict(self.give())
        return {"scores": self.give or [len(item["mt"]) / 100 for item in data], "system_score": 0}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """The library's interface; the library itself is several gigabytes and pins old versions."""
    found = Model()
    package: Any = types.ModuleType("comet")

    def load_from_checkpoint(path: str, local_files_only: bool) -> Model:
        assert path.endswith(".ckpt")
        assert local_files_only
        return found

    package.load_from_checkpoint = load_from_checkpoint
    monkeypatch.setitem(sys.modules, "comet", package)
    return found


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "wmt22-comet-da" / "checkpoints" / "model.ckpt"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"weights")
    return path


def test_a_checkpoint_is_asked_once_for_what_is_not_secret(model: Model, checkpoint: Path) -> None:
    memo = Kept()
    made = [translation(1, "ab"), translation(2, "abcd", Segment.HELD_OUT), translation(3, "")]
    told: list[tuple[int, int]] = []
    first = comet_annotator(
        checkpoint.parents[1], memo, lambda done, all_: told.append((done, all_))
    )
    assert isinstance(first, CometModel)
    assert first.facts.model == "wmt22-comet-da"
    assert not first.facts.imported
    assert first.annotate(made) == [0.02, 0.04, 0.0]
    assert model.asked[0] == {"src": "s", "mt": "ab", "ref": "r"}
    assert told == [(2, 2)]
    assert len(memo) == 1
    model.asked.clear()
    assert comet_annotator(checkpoint, memo).annotate(made) == [0.02, 0.04, 0.0]
    assert [item["mt"] for item in model.asked] == ["abcd"]


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("MODEL/checkpoints/model.ckpt", "MODEL"),
        ("models--org--MODEL/snapshots/0a1b/checkpoints/model.ckpt", "models--org--MODEL"),
        ("MODEL/checkpoints/best.ckpt", "best"),
        ("somebody/model.ckpt", "model"),
        ("somebody/other.ckpt", "other"),
    ],
)
def test_a_checkpoint_is_named_without_the_folders_of_its_owner(
    model: Model, tmp_path: Path, place: str, named: str
) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_bytes(b"weights")
    found = comet_annotator(path)
    assert found.facts.model == named
    model.give = raises
    with pytest.raises(HarnessError) as caught:
        found.annotate([translation(1, "ab")])
    assert str(tmp_path) not in str(caught.value)


def test_failures_while_scoring_name_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content, count in (("0.5\n", 2), ("7\t0.5\n", 1)):
        made = scores(tmp_path, "s.tsv", content)
        with pytest.raises(UsageError, match=r"^s\.tsv: ") as caught:
            made.annotate([translation(id_) for id_ in range(count)])
        assert str(tmp_path) not in str(caught.value)
    package = types.ModuleType("comet")
    package.load_from_checkpoint = lambda *_, **__: 1 / 0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "comet", package)
    (tmp_path / "c.ckpt").write_bytes(b"x")
    with pytest.raises(UsageError, match=r"^c\.ckpt: COMET cannot load") as caught:
        comet_annotator(tmp_path / "c.ckpt").annotate([translation(1, "ab")])
    assert str(tmp_path) not in str(caught.value)


def raises() -> dict[str, Any]:
    raise RuntimeError("s is the source")


@pytest.mark.parametrize(
    ("give", "said"),
    [
        ([0.1, 0.2], "cannot be used"),
        ([7.0], "cannot be used"),
        ([float("nan")], "cannot be used"),
        (raises, r"COMET failed \(RuntimeError\)"),
        (lambda: {"system_score": 1}, r"COMET failed \(KeyError\)"),
    ],
)
def test_a_checkpoint_that_fails_is_named_without_its_words(
    model: Model, checkpoint: Path, give: Any, said: str
) -> None:
    model.give = give
    with pytest.raises(HarnessError, match=said) as caught:
        comet_annotator(checkpoint).annotate([translation(1, "ab")])
    assert "the source" not in str(caught.value)


def test_several_checkpoints_in_a_folder_must_be_told_apart(model: Model, checkpoint: Path) -> None:
    (checkpoint.parent / "other.ckpt").write_bytes(b"x")
    with pytest.raises(UsageError, match="2 checkpoints"):
        comet_annotator(checkpoint.parent)
