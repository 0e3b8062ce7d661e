"""ctranslate2: a translation model of this machine, as weights and a declarative tokenizer: data, and no code of others.

The folder has ``model.bin`` with its vocabulary, as CTranslate2's converters write them, and ``tokenizer.json`` of the
library tokenizers (``target_tokenizer.json`` too, where the target has one of its own). Nothing of it is run or unpickled.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from corpora.model.entry import Entry
from harness.core.calls import Calls
from harness.core.failures import ErrorClass, UsageError
from harness.core.installation import install_line, installed
from harness.core.problems import first_problem
from harness.core.storage_problems import storable
from harness.core.user_file import folder_sha256
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions, check_options
from harness.method.shipped import TAKES

MODEL: Final = "model.bin"
TOKENIZER: Final = "tokenizer.json"
TARGET_TOKENIZER: Final = "target_tokenizer.json"
PACKAGES: Final = ("ctranslate2", "tokenizers")

CONVERT: Final = (
    "ct2-transformers-converter --model FOLDER --output_dir NEW --copy_files tokenizer.json"
)
"""What makes such a folder of weights in safetensors; it needs the package transformers."""


class DecodingSettings(BaseModel):
    """How the model is asked (``--set NAME=VALUE``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    beam_size: Annotated[int, Field(ge=1, le=16)] = 2
    max_length: Annotated[int, Field(ge=1, le=1024)] = 256
    """Most tokens of an output."""
    source_prefix: tuple[str, ...] = ()
    """Tokens before those of each source, such as the name of its language."""
    target_prefix: tuple[str, ...] = ()
    """Tokens that each output begins with; they are no part of it."""


class LocalModel:
    """Translates with a model of this machine; it is loaded when the first text is asked for."""

    endpoint = None

    def __init__(self, options: MethodOptions) -> None:
        """Look at the folder; UsageError where it holds no such model, or an engine is not installed."""
        check_options("ctranslate2", options, *TAKES["ctranslate2"])
        assert options.model_folder is not None  # noqa: S101  check_options has seen to it
        self._folder = options.model_folder
        _check_folder(self._folder)
        _check_engine()
        self._loading = threading.Lock()
        """A ``cached_property`` alone would load the model once for each thread that asks at first."""
        self._decoding = _decoding(options.settings)
        self.setup = Setup(
            method="ctranslate2",
            method_name=options.method_name,
            method_class=MethodClass.CUSTOM_PLUGIN,
            method_version="1",
            model_slug=self._folder.resolve().name,
            condition=options.condition or "baseline",
            batch_size=options.batch_size,
            replicate=options.replicate,
            options={"model_sha256": folder_sha256(self._folder)}
            | ({"settings": options.settings} if options.settings else {}),
        )

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        """Translate beside the event loop; see ``Method``."""
        return await asyncio.to_thread(self._translated, [entry.source for entry in entries])

    def _translated(self, sources: Sequence[str]) -> list[Output]:
        with self._loading:
            translator, (given, wanted) = self._translator, self._tokenizers
        asked = self._decoding
        tokens = [[*asked.source_prefix, *given.encode(source).tokens] for source in sources]
        found = translator.translate_batch(
            tokens,
            target_prefix=[list(asked.target_prefix)] * len(tokens)
            if asked.target_prefix
            else None,
            beam_size=asked.beam_size,
            max_decoding_length=asked.max_length,
        )
        return [_output(wanted, each.hypotheses[0][len(asked.target_prefix) :]) for each in found]

    @cached_property
    def _translator(self) -> Any:
        return import_module("ctranslate2").Translator(str(self._folder), device="cpu")

    @cached_property
    def _tokenizers(self) -> tuple[Any, Any]:
        read = import_module("tokenizers").Tokenizer.from_file
        given, other = read(str(self._folder / TOKENIZER)), self._folder / TARGET_TOKENIZER
        return given, read(str(other)) if other.is_file() else given


def _output(tokenizer: Any, tokens: Sequence[str]) -> Output:
    """Write tokens as text; those that the tokenizer does not have are no text."""
    ids = [number for token in tokens if (number := tokenizer.token_to_id(token)) is not None]
    text = storable(tokenizer.decode(ids, skip_special_tokens=True)).strip()
    return Output(text) if text else Output(None, ErrorClass.EMPTY, "The model gave no words.")


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{folder}: this is no folder. Name the folder of the model.")
    if not (folder / MODEL).is_file():
        only = any(folder.glob("*.safetensors"))
        what = (
            "weights in safetensors, which nothing here runs without code" if only else "no model"
        )
        raise UsageError(f"{folder}: there is no {MODEL}, but {what}. Convert it: {CONVERT}")
    if not (folder / TOKENIZER).is_file():
        raise UsageError(
            f"{folder}: there is no {TOKENIZER}. Copy that of the model there; a tokenizer in another form is first "
            "saved as one (Tokenizer.save of the library tokenizers)."
        )


def _check_engine() -> None:
    if any(installed(each) is None for each in PACKAGES):
        raise UsageError(
            f"The engine for such models is not installed. Install it: {install_line(*PACKAGES)}"
        )


def _decoding(settings: Mapping[str, Any]) -> DecodingSettings:
    """Read how the model is asked; UsageError names the setting that is wrong."""
    try:
        return DecodingSettings.model_validate(settings)
    except ValidationError as error:
        known = ", ".join(DecodingSettings.model_fields)
        raise UsageError(f"--set: {first_problem(error)} There are {known}.") from None
