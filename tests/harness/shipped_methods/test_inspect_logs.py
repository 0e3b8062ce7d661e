"""Logs that inspect_ai 0.3.285 itself wrote, as outputs to score, and what is wrong with others.

Its task translated four sentences by a template: one well, one in another order, one as a chat with an empty answer, and one
solver failed.
"""

import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.core.failures import ErrorClass, UsageError
from harness.inputs import inspect_logs
from harness.inputs.outputs import read_outputs
from tests.harness.sealed.refusals import refuses

LOGS = Path(__file__).parents[2] / "data" / "inspect"
SOURCES = ("The cat sleeps.", "I drink water.", "Good morning!", "Thank you.")
ENTRIES = [Entry(id=f"e{number}", source=source, reference="r") for number, source in enumerate(SOURCES)]


@pytest.mark.parametrize("name", ["translate.eval", "translate.json"])
def test_samples_find_their_entries_by_source(name: str) -> None:
    # the ids of the log are 1, 2, 3 by the order of its samples: those of another order must not decide
    entries = [entry.model_copy(update={"id": number}) for number, entry in enumerate(reversed(ENTRIES), 1)]
    outputs = read_outputs(LOGS / name, entries)
    cat, water, morning, thanks = (outputs.output(entry.id) for entry in reversed(entries))
    assert (cat.text, water.text) == ("La kato dormas.", "Mi akvon trinkas.")
    assert (morning.error_class, thanks.error_class) == (ErrorClass.EMPTY, ErrorClass.METHOD)
    assert outputs.models() == ["mockllm/model"]
    assert (cat.recorded.usage.prompt_tokens, cat.recorded.usage.completion_tokens) == (7, 4)
    assert 0 < cat.recorded.latency_seconds < 1


def test_ids_decide_between_entries_of_one_source_and_of_prompts(tmp_path: Path) -> None:
    twins = [
        Entry(id=1, source="A  dog", reference="r"),
        Entry(id="b", source="A dog", reference="r"),
        Entry(id=3, source="A cat", reference="r"),
    ]
    outputs = read_outputs(
        written(tmp_path, sample(1, "A dog", "x"), sample("b", "A dog", "y"), sample(3, "Translate: A cat!", "z")),
        twins,
    )
    assert [outputs.output(entry.id).text for entry in twins] == ["x", "y", "z"]
    strange = sample(3, "Translate: A bird", "z")
    refuses(
        UsageError,
        r"log\.json: sample 1 \(id '3'\): fields 'input' and 'id'.*Score it",
        read_outputs,
        written(tmp_path, strange),
        twins,
    )


def sample(id_: Any, asked: Any, text: Any, **more: Any) -> dict[str, Any]:
    choices = [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}]
    return {"id": id_, "epoch": 1, "input": asked, "target": "", "output": {"model": "m", "choices": choices}, **more}


def written(folder: Path, *samples: Any, **more: Any) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps({"version": 2, "eval": {}, "plan": {}, "samples": samples, **more}), "utf-8")
    return path


def test_answers_of_parts_and_attachments_are_texts(tmp_path: Path) -> None:
    parts = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "La "},
        {"type": "text", "text": "kato"},
    ]
    attached = sample(2, SOURCES[1], "attachment://ab", attachments={"ab": "Akvon"})
    asked = [
        {"role": "system", "content": SOURCES[3]},
        {"role": "user", "content": [{"type": "text", "text": SOURCES[0]}]},
    ]
    outputs = read_outputs(written(tmp_path, sample(1, asked, parts), attached), ENTRIES)
    assert [outputs.output(f"e{number}").text for number in (0, 1)] == ["La kato", "Akvon"]


@pytest.mark.parametrize(("change", "words"), [
    (lambda log: log.pop("samples"), "field 'samples' is missing.*log_samples"),
    (lambda log: log.update(samples=[7]), "sample 1: field 'output' is wanted"),
    (lambda log: log["samples"][0].update(output="x"), "sample 1: field 'output' is wanted"),
    (lambda log: log["samples"][1].update(epoch=2), r"sample 2 \(id '2'\): field 'epoch' is not 1.*one epoch"),
    (lambda log: log["samples"][0].update(input="else"), r"sample 1 \(id '1'\): fields 'input' and 'id'"),
    (lambda log: log["samples"].append(log["samples"][0]), r"sample 5 \(id '1'\): the entry has an output already"),
    (lambda log: log["samples"][0]["output"].update(time=-1), r"sample 1 \(id '1'\): field 'latency_seconds'"),
])  # fmt: skip
def test_what_is_wrong_names_sample_field_and_fix(tmp_path: Path, change: Callable[[Any], Any], words: str) -> None:
    log = json.loads((LOGS / "translate.json").read_text("utf-8"))
    change(log)
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log), "utf-8")
    said = str(refuses(UsageError, words, read_outputs, path, ENTRIES))
    assert not any(source in said for source in SOURCES)


def archive(folder: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def test_archives_are_read_within_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = json.dumps(sample(1, SOURCES[0], "La kato")).encode()
    path = archive(tmp_path, {"../../x.json": b"", "samples/1_epoch_1.json": good})
    assert read_outputs(path, ENTRIES).output("e0").text == "La kato"
    assert sorted(tmp_path.iterdir()) == [path]
    for members, method, words in (
        ({"header.json": b"{}"}, zipfile.ZIP_STORED, "no samples/….json"),
        ({"samples/1.json": b"{"}, zipfile.ZIP_STORED, "samples/1.json is damaged"),
        ({"samples/1.json": b"[" * 100_000}, zipfile.ZIP_DEFLATED, "samples/1.json is damaged"),
        ({"samples/1.json": good}, zipfile.ZIP_BZIP2, "samples/1.json is damaged"),
        ({"samples/1.json": b" " * 70_000_000 + good}, zipfile.ZIP_DEFLATED, "too large, unpacked"),
    ):
        refuses(UsageError, words, read_outputs, archive(tmp_path, members, method), ENTRIES)
    monkeypatch.setattr(inspect_logs, "MOST_TOTAL", len(good) + 5)
    twice = archive(tmp_path, {"samples/1.json": good, "samples/2.json": good})
    refuses(UsageError, "samples/2.json: too large", read_outputs, twice, ENTRIES)


def test_cut_and_changed_archives_are_refused_in_words(tmp_path: Path) -> None:
    content = (LOGS / "translate.eval").read_bytes()
    path = tmp_path / "log.eval"
    for place in range(0, len(content), 97):
        changed = bytearray(content)
        changed[place] ^= 0x55
        for data in (bytes(changed), content[:place]):
            path.write_bytes(data)
            try:
                read_outputs(path, ENTRIES)
            except UsageError as error:
                assert str(error).startswith(f"{path}: ")  # noqa: PT017


def test_a_stated_size_and_a_wrong_checksum_help_nobody(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.compress(b" " * 200_000_000)
    path = archive(tmp_path, {"samples/1.json": packed}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    for head in (data.index(b"PK\x03\x04") + 8, data.index(b"PK\x01\x02") + 10):
        data[head] = 93
    path.write_bytes(data)
    refuses(UsageError, "too large, unpacked", read_outputs, path, ENTRIES)


def test_newer_logs_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    refuses(UsageError, r"zstandard.*rosetta-tui\[formats\].*--to json", read_outputs, LOGS / "translate.eval", ENTRIES)


def test_other_json_stays_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "o.json"
    path.write_text(json.dumps({"eval": {}, "results": [{"id": "e0", "output": "x"}]}), "utf-8")
    assert read_outputs(path, ENTRIES).output("e0").text == "x"
    assert zipfile.is_zipfile(io.BytesIO((LOGS / "translate.eval").read_bytes()))
