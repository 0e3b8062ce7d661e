"""A model as data: it is asked through the engine of this machine, and what is no such model is refused in words."""

from __future__ import annotations

import asyncio
import json
import threading
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from corpora.model.entry import Entry
from harness.core.calls import Calls
from harness.core.failures import ErrorClass, UsageError
from harness.core.user_file import folder_sha256
from harness.method.method import Output
from harness.method.options import MethodOptions
from harness.methods.local_model import LocalModel
from harness.methods.registry import build
from tests.harness.methods.tiny_model import SAYS, tiny_model

pytest.importorskip("ctranslate2", reason="the extra engine is not installed")


def _options(folder: Path, **told: Any) -> MethodOptions:
    return MethodOptions(source_language="en", target_language="eo", model_folder=folder, **told)


def _asked(options: MethodOptions, *sources: str) -> list[Output]:
    entries = [Entry.model_validate({"id": n, "source": s, "reference": "x", "segment": "development"}) for n, s in enumerate(sources)]  # fmt: skip
    return asyncio.run(LocalModel(options).translate(entries, cast("Calls", None)))


def test_a_model_translates_and_its_setup_names_the_bytes_it_was(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    made = build("ctranslate2", _options(folder, batch_size=4))
    assert made.setup.options == {"model_sha256": folder_sha256(folder)}
    assert made.setup.model_slug == "tiny"
    assert [each.text for each in _asked(_options(folder), "Good morning", "mañana")] == [SAYS] * 2


def test_a_prefix_of_the_target_is_no_part_of_the_output(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    [output] = _asked(_options(folder, settings={"target_prefix": ["eo"]}), "good")
    assert output.text == "matenon"


def test_a_tokenizer_of_the_target_writes_the_output(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    other = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    other["model"]["vocab"] = {w: n for w, n in other["model"]["vocab"].items() if w != "bonan"}
    (folder / "target_tokenizer.json").write_text(json.dumps(other), "utf-8")
    assert [each.text for each in _asked(_options(folder), "good")] == ["matenon"]


def test_no_words_are_no_translation(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    [output] = _asked(_options(folder, settings={"target_prefix": ["matenon"]}), "good")
    assert (output.text, output.error_class) == (None, ErrorClass.EMPTY)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"beam_size": 0}, "beam_size"),
        ({"beam_size": 17}, "beam_size"),
        ({"max_length": 1025}, "max_length"),
        ({"beams": 2}, "There are beam_size, max_length, source_prefix, target_prefix"),
        ({"target_prefix": "eo"}, "target_prefix"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    folder = tiny_model(tmp_path / "tiny")
    with pytest.raises(UsageError, match=words):
        LocalModel(_options(folder, settings=settings))


def test_what_is_no_such_model_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        LocalModel(_options(tmp_path / "none"))
    (tmp_path / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    with pytest.raises(UsageError, match=r"safetensors.*ct2-transformers-converter"):
        LocalModel(_options(tmp_path))
    (tmp_path / "model.bin").write_bytes(b"\x06\0\0\0")
    with pytest.raises(UsageError, match=r"tokenizer\.json"):
        LocalModel(_options(tmp_path))


def test_entries_that_are_asked_at_once_load_the_model_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """The second thread asks while the first one loads."""
    entry = Entry.model_validate({"id": 1, "source": "good", "reference": "x", "segment": "development"})  # fmt: skip
    made = LocalModel(_options(tiny_model(tmp_path / "tiny")))
    loaded: list[str] = []
    others: list[threading.Thread] = []

    def ask() -> None:
        asyncio.run(made.translate([entry], cast("Calls", None)))

    def module(name: str) -> Any:
        if name == "ctranslate2":
            loaded.append(name)
            if len(loaded) == 1:
                others.append(threading.Thread(target=ask))
                others[0].start()
                others[0].join(0.5)
        return import_module(name)

    monkeypatch.setattr("harness.methods.local_model.import_module", module)
    ask()
    others[0].join()
    assert len(loaded) == 1
