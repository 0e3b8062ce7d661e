"""A model as data: it is asked through the engine of this machine, and what is no such model is refused in words."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from corpora.model.entry import Entry
from harness.box.engine import Inside, Launch
from harness.box.failures import BoxStage, WhoseFault
from harness.box.limits import Limits
from harness.box.own_process import OwnProcess
from harness.core.calls import Calls
from harness.core.failures import ErrorClass, UsageError
from harness.core.user_file import folder_sha256
from harness.method.method import Output
from harness.method.options import MethodOptions
from harness.methods.local_model import LocalModel, limits_for
from harness.methods.registry import build
from tests.harness.methods.tiny_model import SAYS, tiny_model

pytest.importorskip("ctranslate2", reason="the extra engine is not installed")


def _options(folder: Path, **told: Any) -> MethodOptions:
    return MethodOptions(source_language="en", target_language="eo", model_folder=folder, **told)


def _asked(options: MethodOptions, *sources: str) -> list[Output]:
    entries = [Entry.model_validate({"id": n, "source": s, "reference": "x", "segment": "development"}) for n, s in enumerate(sources)]  # fmt: skip
    [outputs] = asyncio.run(_in_turn(LocalModel(options), entries))
    return outputs


def test_prefix_of_the_target_is_no_part_of_the_output(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    [output] = _asked(_options(folder, settings={"target_prefix": ["eo"]}), "good")
    assert output.text == "matenon"
    [output] = _asked(_options(folder, settings={"target_prefix": ["matenon"]}), "good")
    assert (output.text, output.error_class) == (None, ErrorClass.EMPTY)


def test_tokenizer_of_the_target_writes_the_output(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    other = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    other["model"]["vocab"] = {w: n for w, n in other["model"]["vocab"].items() if w != "bonan"}
    (folder / "target_tokenizer.json").write_text(json.dumps(other), "utf-8")
    assert [each.text for each in _asked(_options(folder), "good")] == ["matenon"]


def test_wrong_settings_and_folders_are_named(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    for settings, words in (
        ({"beam_size": 0}, "beam_size"),
        ({"beam_size": 17}, "beam_size"),
        ({"max_length": 1025}, "max_length"),
        ({"beams": 2}, "There are beam_size, max_length, source_prefix, target_prefix"),
        ({"target_prefix": "eo"}, "target_prefix"),
    ):
        with pytest.raises(UsageError, match=words):
            LocalModel(_options(folder, settings=settings))
    with pytest.raises(UsageError, match="no folder"):
        LocalModel(_options(tmp_path / "none"))
    (tmp_path / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    with pytest.raises(UsageError, match=r"safetensors.*ct2-transformers-converter"):
        LocalModel(_options(tmp_path))
    (tmp_path / "model.bin").write_bytes(b"\x06\0\0\0")
    with pytest.raises(UsageError, match=r"tokenizer\.json"):
        LocalModel(_options(tmp_path))
    assert limits_for(0).memory_bytes == 4 * 2**30
    assert limits_for(2**30).memory_bytes == 7 * 2**30


async def _in_turn(made: LocalModel, *asked: list[Entry]) -> list[list[Output]]:
    try:
        calls = (made.translate(entries, cast("Calls", None)) for entries in asked)
        return [[*outputs] for outputs in await asyncio.gather(*calls)]
    finally:
        await made.close_box()


def _entry(source: str = "good", segment: str = "development") -> Entry:
    return Entry.model_validate({"id": 1, "source": source, "reference": "x", "segment": segment})


def _begun(monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """Return where each launch of a process is noted from now on."""
    found: list[Launch] = []
    launch = OwnProcess.launch

    @contextmanager
    def noted(self: OwnProcess, inside: Inside, limits: Limits) -> Iterator[Launch]:
        with launch(self, inside, limits) as made:
            found.append(made)
            yield made

    monkeypatch.setattr(OwnProcess, "launch", noted)
    return found


def test_model_is_loaded_once_and_its_process_told_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("ROSETTA_PASSPHRASE", "sk-canary")
    begun = _begun(monkeypatch)
    folder = tiny_model(tmp_path / "tiny")
    setup = build("ctranslate2", _options(folder, batch_size=4)).setup
    assert (setup.options, setup.model_slug) == ({"model_sha256": folder_sha256(folder)}, "tiny")
    made, secret = LocalModel(_options(folder)), _entry("kanariobirdo", "gold_standard")
    found = asyncio.run(_in_turn(made, [_entry(), _entry("mañana")], [_entry("morning")], [secret]))
    assert [[each.text for each in outputs] for outputs in found] == [[SAYS] * 2, [SAYS], [SAYS]]
    [launch] = begun
    assert not [name for name in launch.environment if name.startswith(("OPENAI", "ROSETTA"))]
    told = [*launch.argv, *launch.environment.values(), *launch.places.values()]
    assert not [each for each in told if "canary" in each or "kanariobirdo" in each]


def test_batch_without_end_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    made = LocalModel(_options(tiny_model(tmp_path / "tiny")))
    monkeypatch.setattr("harness.methods.local_model.limits_for", lambda _: Limits(entry_seconds=1e-6))  # fmt: skip
    late = LocalModel(_options(tmp_path / "tiny"))
    [[output]] = asyncio.run(_in_turn(late, [_entry()]))
    assert (output.text, output.error_class) == (None, ErrorClass.TIMEOUT)
    assert str(late.failure) == "The method failed at a text: it took too long."
    assert children() == []
    [[output]] = asyncio.run(_in_turn(made, [_entry()]))
    assert output.text == SAYS


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a limit of memory")
def test_too_much_memory_is_the_models_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    folder = tiny_model(tmp_path / "tiny")
    monkeypatch.setattr("harness.methods.local_model.limits_for", lambda _: Limits(memory_bytes=128 << 20))  # fmt: skip
    small = LocalModel(_options(folder))
    [[output]] = asyncio.run(_in_turn(small, [_entry()]))
    assert output.error_class is ErrorClass.METHOD
    assert small.failure.stage in {BoxStage.LOAD, BoxStage.TRANSLATE}
    assert small.failure.fault is WhoseFault.ENTRANT


def test_weights_that_the_reader_falls_over_fail_where_they_are_loaded(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    weights = (folder / "model.bin").read_bytes()
    (folder / "model.bin").write_bytes(weights[: len(weights) // 2])
    made = LocalModel(_options(folder))
    [[output], [other]] = asyncio.run(_in_turn(made, [_entry()], [_entry()]))
    assert output.error == other.error == "The method, or its model, could not be loaded: it ended."
    assert "tiny" not in str(output.error)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc names the children of a process")
def test_the_process_ends_with_a_program_that_is_killed(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    with subprocess.Popen([sys.executable, "-P", "-c", _ASKING, str(folder)], stdout=subprocess.PIPE, text=True) as running:  # fmt: skip
        assert running.stdout.readline() == f"{SAYS}\n"
        [child] = children(running.pid)
        ended = os.pidfd_open(child)
        try:
            running.kill()
            assert select.select([ended], [], [], 60)[0]
        finally:
            os.close(ended)


_ASKING = """
import asyncio, sys
from pathlib import Path
from corpora.model.entry import Entry
from harness.method.options import MethodOptions
from harness.methods.local_model import LocalModel

async def ask():
    told = MethodOptions(source_language="en", target_language="eo", model_folder=Path(sys.argv[1]))
    entry = Entry.model_validate({"id": 1, "source": "good", "reference": "x", "segment": "development"})
    [output] = await (made := LocalModel(told)).translate([entry], None)
    print(output.text, flush=True)
    await asyncio.Event().wait()

asyncio.run(ask())
"""


def children(process: int | str = "self") -> list[int]:
    """The processes that a process began and that are there still; none where the system does not name them."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(each) for path in lists for each in path.read_text("ascii").split()]
