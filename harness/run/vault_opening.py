"""Opening texts from a vault for a run: a corpus that is to begin, and what the store has of one that began.

The log of the vault has each opening first. Which keys open, and whether those of keepers who were taken out, is examined here.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from corpora.files.json_types import Json, JsonObject
from corpora.model.corpus import Corpus, Selection
from harness.consent.withdrawals_in_force import Withdrawn, standing
from harness.core.canonical import canonical_sha256
from harness.core.failures import UsageError
from harness.core.storage import folder_sha256, usage_errors
from harness.core.version import VERSION
from harness.method.method_names import BUNDLE_SUFFIX, SHIPPED, SUBMITTED
from harness.method.options import MethodOptions
from harness.settings import read_settings
from harness.setup.scoring_options import ScoringOptions
from harness.shipped_methods.registry import build
from harness.store.corpora.entries import read_dataset
from harness.store.corpora.listing import segments_of
from harness.store.runs import Run
from harness.store.sqlite.database import home, opened
from harness.store.sqlite.openings import set_opening
from harness.store.sqlite.sealing import also_open_with, seal_for_keepers
from harness.store.withdrawn import withdrawn_of_vault
from harness.vault.request import REQUEST_SUFFIX, VaultRequest
from harness.vault.vault_records import MOST_WORDS, RunTerms

if TYPE_CHECKING:
    from harness.sealed.keys import Identity, PublicIdentity
    from harness.vault.opening import VaultOpening
    from harness.vault.vault import Vault


# ---- What is run over a vault's texts, as a grant names it: the method with all its options, by
# one hash.
#
# It is worked out before a text is opened, when the keepers are asked and again when their grant
# is used. The hash covers what files hold, not where they lie. It does not cover what the program
# finds on its own among the languages' files, and of a plug-in only the one file that its own
# hash covers.

GRANTED_AHEAD: Final = ("run", "score", "sweep", "resume", "seal", "look", "review", "adjudicate")
"""What keepers who are elsewhere are asked for; for other work those who are here give the grant at once."""
_UNKNOWN: Final = "und"  # The language tags of a corpus are sealed with it
_OF_THE_CORPUS: Final = {"source_language", "target_language", "task", "file_lines"}
_MAY_BE_FILES: Final = ("prompt", "embeddings")
"""Options that are text, and may name a file or folder."""


def run_terms(
    method: str, told: Mapping[str, Json | Path | Sequence[Path]], scoring: ScoringOptions, selection: Selection
) -> RunTerms:
    """Return what a grant for this run says; ``told``: fields of MethodOptions by name, only those that are given, and any others.

    Raises UsageError where a file cannot be read, or the method is not known.
    """
    methods = {n: told[n] for n in MethodOptions.model_fields.keys() & told if n not in _OF_THE_CORPUS}
    completed = read_settings(home()).completed(method, methods)
    with usage_errors("Options"):
        options = MethodOptions(source_language=_UNKNOWN, target_language=_UNKNOWN, **completed)
    asked = {
        "method": method if (method in SHIPPED or method == "api") else _code(method, options),
        "options": _told(options),
        "scoring": _told(scoring),
        "entries": {name: _content(value) for name, value in asdict(selection).items() if value},
    }
    name = PurePath(method).name  # a path would tell of this computer
    return RunTerms(method=name[:MOST_WORDS], options=canonical_sha256(asked), scorer=VERSION)


def terms_again(
    work: str, run_id: str = "", changes: Mapping[str, Any] | None = None, laptops: Collection[PublicIdentity] = ()
) -> RunTerms:
    """Return what a grant says that opens again what the store keeps of a run; ``work``: one of ``VaultWork``.

    ``changes``: what is other than in the run, by name. ``laptops``: those that its sentences are sealed for. Without a run: of a script, whose runs come later.
    """
    asked: dict[str, Json] = {"run": run_id, "work": work}
    if content_changes := {name: _content(value) for name, value in (changes or {}).items() if value}:
        asked["changes"] = content_changes
    options = canonical_sha256(asked)
    handed: dict[str, tuple[str, ...]] = {}
    if laptops:
        pairs = sorted({(laptop.signing_key, laptop.recipient) for laptop in laptops})
        handed = {"laptops": tuple(k for k, _ in pairs), "recipients": tuple(r for _, r in pairs)}
    return RunTerms(method=work, options=options, scorer=VERSION, run=run_id, **handed)


def _code(method: str, options: MethodOptions) -> list[str]:
    """Return the class of a plug-in and the SHA-256 of its code; what is not a method is said by anyone who makes methods."""
    if method.endswith(BUNDLE_SUFFIX):
        return [SUBMITTED, _content(Path(method))]
    where, _, class_name = method.rpartition(":")
    if PurePath(where).suffix == ".py":
        return [class_name, _content(Path(where))]
    return [method, build(method, options).setup.method_sha256 or ""]


def _told(options: BaseModel) -> JsonObject:
    """Return what differs from the defaults, files and folders by what they hold."""
    defaults = {name: model_field.default for name, model_field in type(options).model_fields.items()}
    return {
        name: _content(
            Path(value)
            if name in _MAY_BE_FILES and (isinstance(value, str) and Path(value).expanduser().exists())
            else value
        )
        for name, value in options
        if value != defaults[name] and name not in _OF_THE_CORPUS
    }


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


def out_of_vault(name: str, vault: VaultRequest, terms: RunTerms | None) -> Corpus:
    """Return a corpus of a vault, opened; this process opens with the same keys what it stores of it.

    ``terms``: what is to be run over it, where that needs a grant. UsageError where the vault does not open, and Withdrawn,
    before it does, for a corpus that the store knows and that was taken back.
    """
    opening = _opening(vault, terms, name)
    vault.opened(opening)
    corpus = opening.corpus(name, vault.segments)
    also_open_with(opening.ages)
    return corpus


def ask_keepers(name: str, vault: VaultRequest, terms: RunTerms) -> None:
    """Request a run over a corpus of the keepers who are elsewhere, and return once enough of them allow it.

    Nothing is opened or used up. At once where they allow exactly this already, or nobody elsewhere has to be asked.
    Raises as ``AwaitedGrant.allowed``.
    """
    opening = _opening(vault, terms, name)
    if opening.grant is not None:
        opening.grant.allowed(name, opening.identity, vault.segments, vault.purpose)


def open_again(
    connection: sqlite3.Connection,
    run: Run,
    vault: VaultRequest | None,
    work: str,
    changes: Mapping[str, Any] | None = None,
    laptops: Collection[PublicIdentity] = (),
) -> None:
    """Open what the store has of a run's texts, where its corpus was opened from a vault; any other needs none.

    The log of the vault has it first, with ``work`` (of ``harness.vault.request.VaultWork``) and a hash of ``changes``: what is
    other than in the run, by name. ``laptops``: those that its sentences are sealed for. UsageError where no vault is named, another than the run's, or one that does not open.
    """
    came, named = read_dataset(connection, run.corpus).opened_from, f"Run {run.run_id[:8]}"
    if came is None and vault is not None:
        raise UsageError(f"{named} is not from a vault: leave --vault and --purpose out.")
    if came is None:
        return
    if vault is None:
        raise UsageError(
            f"{named} is from a vault, and its texts are opened with the vault only: name it with --vault FOLDER, and "
            "say what for with --purpose WORDS. Its scores can be examined without."
        )
    terms = terms_again(work, run.run_id, changes, laptops)
    opening = _opening(replace(vault, work=work, run_id=run.run_id), terms)
    opening.again(came, segments_of(connection, run.corpus, run.positions))
    also_open_with(ages := opening.ages)
    seal_for_keepers(connection, came.partition("/")[0], ages, opening.recipients)
    if work == "resume" and (reason := opening.despite_network):
        set_opening(connection, run.id, run.opening.changed(despite_network=reason))


def _opening(vault: VaultRequest, terms: RunTerms | None, name: str = "") -> VaultOpening:
    """Choose who opens a vault, for a corpus of this name; its ciphers are loaded where one is named alone."""
    from harness.vault.opening import keeper_here, opening_by, vault_at

    if name and standing(home()):
        at = vault_at(vault.folder, home(), clock_was_wrong=vault.clock_was_wrong)
        head = at.read().head
        with opened() as connection:
            for number, stored in head.corpora.items():
                if name in {number, stored.name}:
                    notice = withdrawn_of_vault(connection, head.vault, number)
                    if notice is not None:
                        raise Withdrawn(f"Corpus {name}", notice)
    if terms is None or vault.work not in GRANTED_AHEAD:
        vault = replace(vault, wait=None)
    elif vault.request is None:
        vault = replace(vault, request=Path(f"{vault.work}{REQUEST_SUFFIX}"))
    opening = opening_by(home(), vault, terms)
    refuse_taken_out(opening.vault, [opening.identity, *(keeper_here(home(), path) for path in vault.others)])
    return opening


def refuse_taken_out(vault: Vault, identities: Iterable[Identity]) -> None:
    """Raise Withdrawn where a notice that is believed here says that one of these is no keeper of a vault any more.

    A copy from before the keeper was taken out knows nothing of that.
    """
    if not (now := standing(home())):
        return
    number = vault.read().head.vault
    for key in (identity.public.signing_key for identity in identities):
        if (notice := now.of_keeper(number, key) or now.of_key(key)) is not None:
            raise Withdrawn("These keys", notice)
