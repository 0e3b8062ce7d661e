"""What is run over a vault's texts, as a grant names it: the method with all its options, by one hash.

It is worked out before a text is opened, when the keepers are asked and again when their grant is used. The hash
covers what files hold, not where they lie. It does not cover what the program finds on its own among the languages'
files, and of a plug-in only the one file that its own hash covers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ValidationError

from corpora.model.corpus import Selection
from harness.core.canonical import canonical_sha256
from harness.core.failures import UsageError
from harness.core.problems import first_problem
from harness.core.user_file import folder_sha256
from harness.core.version import VERSION
from harness.method.options import MethodOptions
from harness.method.shipped import BUNDLE_SUFFIX, SHIPPED, SUBMITTED
from harness.methods.registry import build
from harness.settings import read_settings
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import home
from harness.vault.records import MOST_WORDS, RunTerms

if TYPE_CHECKING:
    from harness.sealed.keys import PublicIdentity

GRANTED_AHEAD: Final = ("run", "score", "resume", "seal", "look", "review", "adjudicate")
"""What a grant may be asked for in a request; for other work keepers who are here give it at once."""
_UNKNOWN: Final = "und"
"""The language tags of a corpus are sealed with it."""
_OF_THE_CORPUS: Final = {"source_language", "target_language", "task", "file_lines"}
_MAY_BE_FILES: Final = ("prompt", "embeddings")
"""Options that are text, and may name a file or folder."""


def run_terms(
    method: str, told: Mapping[str, Any], scoring: ScoringOptions, selection: Selection
) -> RunTerms:
    """Return what a grant for this run says; ``told``: fields of MethodOptions by name, only those that are given, and any others.

    Raises UsageError where a file cannot be read, or the method is not known.
    """
    methods = {n: told[n] for n in MethodOptions.model_fields.keys() & told if n not in _OF_THE_CORPUS}  # fmt: skip
    completed = read_settings(home()).completed(method, methods)
    try:
        options = MethodOptions(source_language=_UNKNOWN, target_language=_UNKNOWN, **completed)
    except ValidationError as error:
        raise UsageError(f"Options: {first_problem(error)}") from error
    asked = {
        "method": method if _is_shipped(method) else _code(method, options),
        "options": _told(options),
        "scoring": _told(scoring),
        "entries": {name: _content(value) for name, value in asdict(selection).items() if value},
    }
    name = PurePath(method).name  # a path would tell of this computer
    return RunTerms(method=name[:MOST_WORDS], options=canonical_sha256(asked), scorer=VERSION)


def terms_again(
    work: str,
    run_id: str = "",
    changes: Mapping[str, Any] | None = None,
    laptops: Collection[PublicIdentity] = (),
) -> RunTerms:
    """Return what a grant says that opens again what the store keeps of a run; ``work``: one of ``VaultWork``.

    ``changes``: what is other than in the run, by name. ``laptops``: those that its sentences are sealed for. Without a run: of a script, whose runs come later.
    """
    asked: dict[str, Any] = {"run": run_id, "work": work}
    if content_changes := {
        name: _content(value) for name, value in (changes or {}).items() if value
    }:
        asked["changes"] = content_changes
    options = canonical_sha256(asked)
    handed: dict[str, tuple[str, ...]] = {}
    if laptops:
        pairs = sorted({(laptop.signing_key, laptop.recipient) for laptop in laptops})
        handed = {"laptops": tuple(k for k, _ in pairs), "recipients": tuple(r for _, r in pairs)}
    return RunTerms(method=work, options=options, scorer=VERSION, run=run_id, **handed)


def _is_shipped(method: str) -> bool:
    return method in SHIPPED or method == "api"


def _code(method: str, options: MethodOptions) -> list[str]:
    """Return the class of a plug-in and the SHA-256 of its code; what is not a method is said by anyone who makes methods."""
    if method.endswith(BUNDLE_SUFFIX):
        return [SUBMITTED, _content(Path(method))]
    where, _, class_name = method.rpartition(":")
    if PurePath(where).suffix == ".py":
        return [class_name, _content(Path(where))]
    return [method, build(method, options).setup.method_sha256 or ""]


def _told(options: BaseModel) -> dict[str, Any]:
    """Return what differs from the defaults, files and folders by what they hold."""
    defaults = {
        name: model_field.default for name, model_field in type(options).model_fields.items()
    }
    return {
        name: _content(Path(value) if name in _MAY_BE_FILES and _is_there(value) else value)
        for name, value in options
        if value != defaults[name] and name not in _OF_THE_CORPUS
    }


def _is_there(value: Any) -> bool:
    return isinstance(value, str) and Path(value).expanduser().exists()


def _content(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Path):
        path = value.expanduser()
        try:
            if path.is_dir():
                return folder_sha256(path)
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise UsageError(f"{path} cannot be read ({error.strerror}).") from None
    return [_content(item) for item in value] if isinstance(value, tuple) else value
