"""ctranslate2: a translation model of this machine, as weights and a declarative tokenizer: data, and no code of others.

The folder has ``model.bin`` with its vocabulary, as CTranslate2's converters write them, and ``tokenizer.json`` of the
library tokenizers (``target_tokenizer.json`` too, if the target has its own). Nothing of it is run or unpickled.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from corpora.files.installed import installed
from corpora.files.json_types import JsonObject
from corpora.files.toml_text import first_problem
from harness.box.boxed import BoxedMethod
from harness.box.engine import BoxedCode, Limits
from harness.box.engines import OwnProcess
from harness.core.failures import UsageError
from harness.core.installation import install_line
from harness.core.storage import folder_sha256
from harness.method.method import MethodClass
from harness.method.options import MethodOptions

MODEL: Final = "model.bin"
TOKENIZER: Final = "tokenizer.json"
TARGET_TOKENIZER: Final = "target_tokenizer.json"
PACKAGES: Final = ("ctranslate2", "tokenizers")

_IMPORTED: Final = (*PACKAGES, "numpy")
"""What ``inside/translating.py`` imports, and what the engine itself does."""
_MEMORY: Final = 4 * 2**30
_WRITTEN: Final = 16 * 2**20  # Bytes of a file that it may write; threads share a little so
_LOADING: Final = 1800
_ALL: Final = 7 * 24 * 3600

CONVERT: Final = "ct2-transformers-converter --model FOLDER --output_dir NEW --copy_files tokenizer.json"
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


class LocalModel(BoxedMethod):
    """Translates with a model of this machine, in its own process that is begun at the first text and ended with the run.

    Weights that others made decide how long a text takes, and a reader in native code may fall over them: what takes too long,
    too much memory or the process itself costs its own texts, as in a box.
    """

    def __init__(self, options: MethodOptions) -> None:
        """Check the folder; UsageError where it holds no such model, or an engine is not installed."""
        assert options.model_folder is not None  # noqa: S101  check_options has seen to it
        folder = options.model_folder
        if not folder.is_dir():
            raise UsageError(f"{folder}: this is no folder. Name the folder of the model.")
        if not (folder / MODEL).is_file():
            what = "no model"
            if any(folder.glob("*.safetensors")):
                what = "weights in safetensors, which nothing here runs without code"
            raise UsageError(f"{folder}: there is no {MODEL}, but {what}. Convert it: {CONVERT}")
        if not (folder / TOKENIZER).is_file():
            raise UsageError(
                f"{folder}: there is no {TOKENIZER}. Copy that of the model there; a tokenizer in another form is first "
                "saved as one (Tokenizer.save of the library tokenizers)."
            )
        if any(installed(package) is None for package in PACKAGES):
            raise UsageError(f"The engine for such models is not installed. Install it: {install_line(*PACKAGES)}")
        settings = {"settings": options.settings} if options.settings else {}
        setup = options.setup(
            "ctranslate2",
            MethodClass.CUSTOM_PLUGIN,
            "baseline",
            model_slug=folder.resolve().name,
            batch_size=options.batch_size,
            options={"model_sha256": folder_sha256(folder), **settings},
        )
        given, other = folder.resolve() / TOKENIZER, folder.resolve() / TARGET_TOKENIZER
        tokenizers = [str(given), str(other if other.is_file() else given)]
        asked = _decoding(options.settings).model_dump(mode="json")
        asked |= {"folder": str(folder.resolve()), "tokenizers": tokenizers}
        inside = Path(str(files("harness.shipped_methods.inside")))
        code = BoxedCode(inside, "translating:Translating", options=asked)
        limits = limits_for((folder / MODEL).stat().st_size)
        # What links in the folder lead to is read too, as where models are kept once for several folders.
        links = (path for path in folder.resolve().iterdir() if path.is_symlink() and path.exists())
        engine = OwnProcess(_IMPORTED, [folder.resolve(), *(path.resolve() for path in links)])
        super().__init__(code, limits, engine, None, setup, open_data=False)


def limits_for(weights: int) -> Limits:
    """Return what the process of a model may take; ``weights``: bytes of its file, which an engine holds in several copies."""
    return Limits(memory_bytes=_MEMORY + 3 * weights, disk_bytes=_WRITTEN, load_seconds=_LOADING, all_seconds=_ALL)


def _decoding(settings: JsonObject) -> DecodingSettings:
    """Read how the model is asked; UsageError names the setting that is wrong."""
    try:
        return DecodingSettings.model_validate(settings)
    except ValidationError as error:
        known = ", ".join(DecodingSettings.model_fields)
        raise UsageError(f"--set: {first_problem(error)} There are {known}.") from None
