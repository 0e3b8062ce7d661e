"""What keeps a run on this machine: secret entries, terms of the corpus, ``--offline`` (DESIGN V1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corpora.checks.marks import misplaced, without_roles
from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.model.terms import FIELD
from harness.core.failures import UsageError
from harness.endpoint import offline
from harness.endpoint.endpoints import is_loopback
from harness.endpoint.keys import KeySource, find_key, no_key
from harness.endpoint.offline import why_secret
from harness.method.method import Method
from harness.methods.registry import build
from harness.privacy import unquoted
from harness.privacy.local_servers import require_answer
from harness.setup.plan import Plan


def make_method(
    plan: Plan,
    corpus: Sequence[Entry],
    entries: Sequence[Entry],
    find_key: KeySource = find_key,
) -> Method:
    """Make the method of a plan for some entries of a corpus, behind a shut door where one is needed.

    ``find_key`` is asked only once it is known that the method may be used. Raises UsageError where it may
    not, or cannot be made.
    """
    shut_door(entries, plan)
    described = build(plan.method, plan.options, corpus, no_key)
    keep_here(entries, described, plan)
    require_answer(entries, described, plan)
    return build(plan.method, plan.options, corpus, find_key)


def shut_door(entries: Iterable[Entry], plan: Plan | None = None) -> None:
    """Refuse all connections to other machines from now on, where entries or plan ask for it.

    Before the code of a method or the libraries of a model are loaded: both run from their first line.
    """
    if any(entry.secret for entry in entries):
        offline.shut(offline.SECRET)
        unquoted.quieten()
    elif plan is not None and plan.run.offline:
        offline.shut(offline.OFFLINE)


def keep_here(entries: Sequence[Entry], method: Method, plan: Plan) -> Plan:
    """Keep an offline run, and any run with secret entries, on this machine.

    Raises UsageError where the method would call another machine.
    """
    secret = any(entry.secret for entry in entries)
    if not (secret or plan.run.offline):
        _require_open_door(method)
        return plan
    why = f"{why_secret(entries)}, and" if secret else "--offline is on, and"
    if method.endpoint is not None and not is_loopback(method.endpoint):
        raise UsageError(
            f"{why} the method would send them to another machine. {_other_entries(entries)} a method that "
            "runs on this machine."
            if secret
            else f"{why} the method's endpoint is not on this machine. Leave --offline away, or name a "
            "local endpoint."
        )
    if method.endpoint is not None and (model := cloud_model(method)) is not None:
        raise UsageError(
            f"{why} the model {model} is named as one of a cloud: a local server such as Ollama would "
            "send the texts there. Name a model that runs on this machine."
        )
    return plan.model_copy(update={"run": plan.run.model_copy(update={"offline": True})})


def _require_open_door(method: Method) -> None:
    why = offline.why()
    if why and method.endpoint is not None and not is_loopback(method.endpoint):
        raise UsageError(
            f"{why}: this was so in an earlier run of this program, so it connects to no other machine "
            "until it is closed. Close Rosetta, open it again, and begin this run."
        )


def _other_entries(entries: Iterable[Entry]) -> str:
    """Begin the mend: where terms keep the whole corpus here, no other entries would do."""
    if all(entry.local_only for entry in entries):
        return "Choose"
    return "Choose other entries with --segment, or"


def cloud_model(method: Method) -> str | None:
    """Return the name of a model that ends in ``cloud``, as Ollama names those that run elsewhere."""
    slug = method.setup.model_slug
    return slug if slug.strip().casefold().endswith("cloud") else None


def refuse_unclear(dataset: Dataset, entries: Sequence[Entry]) -> None:
    """Raise UsageError where nobody knows which entries are secret, or where their texts may go.

    A file with such marks is refused when it is read; stores that were filled before may hold them.
    """
    known = frozenset({FIELD})
    for entry in entries:
        for mark in misplaced(entry.model_extra or {}, known):
            raise UsageError(f"Entry {entry.id}, field {mark.path!r}: {mark.wrong} {mark.mend}")
    for field, words in dataset.terms.unclear:
        raise UsageError(f"The corpus, field {field!r}: {words} Mend the file, and read it anew.")
    for mark in misplaced(without_roles(dataset.model_extra or {}), known):
        raise UsageError(f"The corpus, field {mark.path!r}: {mark.wrong} {mark.mend}")


def refuse_not_stored(entries: Sequence[Entry]) -> None:
    """Raise UsageError where the store has no text of an entry that a run asks for."""
    lacking = sum(entry.not_stored for entry in entries)
    if lacking:
        raise UsageError(
            f"The store does not hold {lacking:,} of these entries: they are secret, and no run used "
            "them. Name the corpus file instead."
        )
