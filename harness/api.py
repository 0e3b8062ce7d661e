"""The door: from a corpus and what somebody asks for to a run that is ready to go.

The command line, the form, the demo, scoring, estimating, going on, trying again and the package ``rosetta`` come
through here: ``open_corpus`` → ``ask`` → ``start``. What was asked is checked here and typed from then on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from corpora.files.packed_list import PlaceMap
from corpora.files.places import without_gaps
from corpora.formats.columns import Columns
from corpora.formats.load import load
from corpora.model.corpus import Corpus, Selection
from corpora.model.entry import AnyEntry, reveal_here, secrets_among
from corpora.model.terms import reveal_all
from harness.card.checking.signed import UNKNOWN, KnownSigners, verify_file, verify_stored, with_own
from harness.card.checking.verdict import CardVerdict
from harness.card.reading import read_small_file
from harness.consent.checks import facts_of, with_consent
from harness.consent.withdrawals_in_force import remember_opened, standing
from harness.core.failures import UsageError
from harness.core.storage import usage_errors
from harness.endpoint.endpoints import KeySource, find_key, no_key
from harness.estimate.earlier import estimate_judges
from harness.estimate.estimate import RunEstimate
from harness.estimate.estimate import estimate as estimated
from harness.leaderboard.official import check_consent, verify_released
from harness.method.method import Method
from harness.method.option_table import plan_fields
from harness.method.options import MethodOptions, flag, refuse_told_keys, refuse_written_keys
from harness.privacy import ClearedMethod, Make, SendingRules, clear
from harness.release.budget import ACTIVATE
from harness.release.ledger import ReleaseLedger
from harness.release.ledger_records import LEAST_CONFIRMED
from harness.run.beginning import (  # fmt: skip
    begin,
    prepare_run,
    refuse_submitted,
    require_going_on,
    resume_method,
    tools_for,
)
from harness.run.final_scores import retry as retry_failed
from harness.run.vault_opening import open_again, out_of_vault
from harness.settings import read_settings
from harness.setup.plan import AS_BEFORE, Plan, Resumption, RunOptions
from harness.setup.scoring_options import ScoringOptions, refuse_unread
from harness.setup.scoring_tools import ScoringTools
from harness.shipped_methods.registry import build
from harness.store.attachments import change_words, tidy_note, tidy_tags
from harness.store.corpora.listing import names_stored, read_stored
from harness.store.runs import find_run
from harness.store.sqlite.database import home, opened
from harness.vault.request import VaultRequest
from harness.vault.vault_records import RunTerms

Options = TypeVar("Options", bound=BaseModel)

_OF_THE_CORPUS = ("source_language", "target_language", "file_lines", "task")


@dataclass(frozen=True, slots=True)
class CorpusRequest:
    """A corpus file, or a corpus of the store or of a vault by its name, and what a file does not say itself."""

    file: str | Path
    references: tuple[str | Path, ...] = ()
    """Files of references, aligned by line with a file of sources."""
    form: str | None = None
    """None: found out from content and ending."""
    id: str | None = None
    source_language: str | None = None
    target_language: str | None = None
    source_column: str | None = None
    """Name of the column, or its number from 1."""
    reference_column: str | None = None
    task: str | None = None
    vault: VaultRequest | None = None
    """The vault that the corpus is opened out of; nothing else is told then."""
    terms: RunTerms | None = None
    """What is about to be run over it, where that needs a grant (``run_terms``)."""
    kept_here: bool = False
    """True where no message may quote anything of an entry, whatever the file says of it."""


def open_corpus(asked: CorpusRequest, store: Path | None = None) -> Corpus:
    """Read the corpus that is asked for.

    ``store``: path of the store that keeps corpora; None: that of the data folder. Raises CorpusError with every
    problem of a file, UsageError for a corpus of the store that is not there or where a vault does not open, and
    Withdrawn where consent for it was withdrawn; entries that were taken back are not in it.
    """
    corpus = _read(asked, store)
    if (opened_from := corpus.dataset.opened_from) is not None and corpus.vault is not None:
        remember_opened(home(), opened_from, facts_of(corpus))
    return with_consent(corpus, standing(home()))


def _read(asked: CorpusRequest, store: Path | None) -> Corpus:
    if asked.vault is not None:
        if asked != CorpusRequest(asked.file, vault=asked.vault, terms=asked.terms):
            raise UsageError(
                "A corpus of a vault says itself what it is: leave out files of references, and what says how a file is read."
            )
        return out_of_vault(str(asked.file), asked.vault, asked.terms)
    name = str(asked.file)
    columns = Columns(asked.source_column, asked.reference_column)
    names = ("id", "source_language", "target_language")
    envelope = {name: getattr(asked, name) for name in names}
    if asked.task is not None:
        envelope["task"] = asked.task
    if names_stored(name):
        with opened(store) as connection:
            return read_stored(connection, name, envelope, columns.said, kept_here=asked.kept_here)
    return load(
        asked.file, asked.references, form=asked.form, dataset=envelope, columns=columns,
        kept_here=asked.kept_here,
    )  # fmt: skip


@dataclass(frozen=True)
class RunRequest:
    """What a run is asked for, checked: which entries of which corpus, how, and a person's words next to it."""

    corpus: Corpus
    positions: Sequence[int]
    """Places in the corpus of the entries that take part, in its order."""
    plan: Plan
    note: str = ""
    tags: tuple[str, ...] = ()

    @property
    def entries(self) -> Sequence[AnyEntry]:
        return self.chosen.in_order

    @cached_property
    def chosen(self) -> PlaceMap[AnyEntry]:
        """The entries that take part, by their places."""
        return PlaceMap.of(self.corpus.entries).at(self.positions)

    @property
    def secret(self) -> frozenset[int]:
        """Places of the entries whose texts nobody is shown."""
        if not any(secrets_among(self.corpus.entries)):
            return frozenset()
        return frozenset(place for place in self.positions if self.corpus.entries[place].secret)

    def allowed(self, words: str) -> RunRequest:
        """Return the same request with a person's words that its texts may be sent, and who allows it."""
        options = self.plan.run.model_dump() | {"may_send": words.strip()}
        run_options = RunOptions.model_validate(options)
        return replace(self, plan=self.plan.model_copy(update={"run": run_options}))

    def clear(self, find_key: KeySource = find_key, make: Make | None = None) -> ClearedMethod:
        """Check everything and make the method; raises UsageError where it may not be asked. See ``harness.privacy.clear``."""
        corpus = self.corpus
        return clear(corpus.dataset, self.chosen, self.plan, corpus.entries, find_key, make)


def confirming(corpus: Corpus, chosen: Selection, ledger: ReleaseLedger) -> Selection:
    """Return a selection of those chosen secret entries about which nothing was released to anybody.

    UsageError if they are too few to confirm a claim, or entries are named, sampled or limited besides.
    """
    if chosen.entry_ids or chosen.sample is not None or chosen.limit is not None:
        raise UsageError("--confirm chooses the entries: leave out --entries, --sample and --limit.")
    entries = reveal_here(corpus.entries[place] for place in chosen.apply(corpus))
    known = ledger.read().atoms
    digests = {str(entry.id): ledger.digest(entry.source) for entry in entries if entry.secret}
    fresh = {id_: digest for id_, digest in digests.items() if digest not in known}
    count = len(set(fresh.values()))  # sentences that are alike count once, as in an answer
    if count < LEAST_CONFIRMED:
        raise UsageError(f"{count:,} different secret entries of {corpus.dataset.id} were never told of, and a run that confirms needs {LEAST_CONFIRMED}. {ACTIVATE}")  # fmt: skip
    return replace(chosen, entry_ids=tuple(fresh))


def ask(
    corpus: Corpus,
    method: str,
    told: Mapping[str, object],
    selection: Selection | None = None,
    *,
    note: str = "",
    tags: Sequence[str] = (),
) -> RunRequest:
    """Check what somebody asks for and complete it by the user's settings.

    ``told``: options by name: the fields of MethodOptions, ScoringOptions and RunOptions, and the names of
    ``LIMITS``; only those that are given. Raises UsageError for an option that is unknown or wrong, and
    CorpusError for a selection that leaves nothing.
    """
    positions = without_gaps((selection or Selection()).apply(corpus))
    plan = plan_of(corpus, method, told)
    return RunRequest(corpus, positions, plan, tidy_note(note), tidy_tags(tags))


def plan_of(corpus: Corpus, method: str, told: Mapping[str, object]) -> Plan:
    """Convert options into the plan that a run keeps, as ``ask`` does; paths become absolute."""
    told = plan_fields(told)
    models: tuple[type[BaseModel], ...] = (MethodOptions, RunOptions, ScoringOptions)
    known = {field for model in models for field in model.model_fields} - {*_OF_THE_CORPUS}
    if stray := sorted(told.keys() - known):
        raise UsageError(f"There is no option {stray[0]!r}. There are {', '.join(sorted(known))}.")
    options = _fields(MethodOptions, told)
    options |= {name: getattr(corpus.dataset, name) for name in _OF_THE_CORPUS}
    if method != "pipeline":
        options.pop("analyser", None)  # a metric's, not the method's
    options = read_settings(home()).completed(method, options)
    refuse_told_keys(options)
    with usage_errors("Options"):
        plan = Plan(
            method=method,
            options=_absolute_paths(MethodOptions.model_validate(options)),
            run=RunOptions.model_validate(_fields(RunOptions, told)),
            scoring=scoring_of(told).said_by(corpus.dataset.task),
        )
    refuse_written_keys(plan.options)
    refuse_unread(plan.scoring)
    return plan


def scoring_of(told: Mapping[str, object]) -> ScoringOptions:
    """Read those of some options that say what outputs are scored with; paths become absolute.

    ``metrics`` are names, or one text with commas between them. UsageError names the option that is wrong.
    """
    fields = _fields(ScoringOptions, told)
    if isinstance(named := fields.get("metrics"), str):
        fields["metrics"] = tuple(id_.strip() for id_ in named.split(",") if id_.strip())
    if where := fields.get("embeddings"):
        folder = Path(where).expanduser()
        own = read_settings(home()).url_of(where)
        fields["embeddings"] = str(folder.absolute()) if folder.is_dir() else own
    if where := fields.get("judge"):
        fields["judge"] = read_settings(home()).url_of(where)
    try:
        return _absolute_paths(ScoringOptions.model_validate(fields))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        message = first["msg"].removeprefix("Value error, ")
        end = " Correct it." if message.endswith("?") else ". Correct it."
        raise UsageError(f"{flag(str(first['loc'][0]))}: {message}{end}") from error


def _fields(model: type[BaseModel], told: Mapping[str, object]) -> dict[str, Any]:
    return {name: absolute(told[name]) for name in told if name in model.model_fields}


def absolute(value: Any) -> Any:
    """Make a path independent of the folder in which a run continues; anything else stays as it is."""
    return value.expanduser().absolute() if isinstance(value, Path) else value


def _absolute_paths(options: Options) -> Options:
    """Convert the fields of a model in the same way, which may have been given as text."""
    paths = {name: absolute(value) for name, value in options if isinstance(value, Path)}
    return options.model_copy(update=paths) if paths else options


@dataclass(frozen=True, slots=True)
class Ready:
    """A run that is stored and ready to go; hand it to an engine."""

    path: Path
    """Of the store."""
    number: int
    """The store's own."""
    run_id: str
    cleared: ClearedMethod
    tools: ScoringTools | None = None
    """What it began with, where that is still available."""
    resumption: Resumption = AS_BEFORE
    asked_again: int = 0
    """Failed entries that it asks for again, where it goes back to a run that is complete."""
    kept: int = 0
    """Entries whose rows it has of that run."""

    @property
    def method(self) -> Method:
        return self.cleared.method

    def with_method(self, method: Method) -> Ready:
        """Return it with a method that does the same otherwise."""
        return replace(self, cleared=replace(self.cleared, method=method))


def start(
    store: Path,
    asked: RunRequest,
    cleared: ClearedMethod | None = None,
    run_id: str | None = None,
    tools: ScoringTools | None = None,
) -> Ready:
    """Store the beginning of a run; nothing is asked of its method yet.

    ``cleared``, ``run_id`` and ``tools`` were made before: the tools for the same entries and options. Raises
    CorpusError or HarnessError with what is wrong; nothing is stored then.
    """
    corpus, chosen = asked.corpus, asked.chosen
    cleared = cleared or asked.clear()
    with opened(store) as connection:
        tools = tools or tools_for(connection, corpus, chosen.in_order, cleared.plan)
        prepared = prepare_run(connection, corpus, chosen, cleared, tools)
        number, run_id = begin(connection, prepared, run_id)
        if asked.note or asked.tags:
            change_words(connection, number, note=asked.note, add=asked.tags)
    return Ready(store, number, run_id, cleared, tools)


def resume(
    store: Path,
    name: str,
    resumption: Resumption = AS_BEFORE,
    vault: VaultRequest | None = None,
    find_key: KeySource = find_key,
    *,
    are_open: bool = False,
) -> Ready:
    """Make a run that was cut ready to continue; HarnessError where it cannot.

    ``name``: its id, the id's beginning, or ``last``. ``vault``: where its corpus was opened out of one. ``find_key``:
    ``no_key`` where its calls are made elsewhere. ``are_open``: its texts are, in this process, as those of a sweep.
    """
    with opened(store) as connection:
        run = find_run(connection, name)
        require_going_on(run)
        if not are_open:
            open_again(connection, run, vault, "resume")
        may_send = resumption.options.get("may_send")
        cleared = resume_method(connection, run, None if may_send is None else str(may_send), find_key)
    return Ready(store, run.id, run.run_id, cleared, resumption=resumption)


def retry(store: Path, name: str, changes: Mapping[str, object], vault: VaultRequest | None = None) -> Ready:
    """Store a run of a complete run's failed entries, ready to go; HarnessError where none can be asked again.

    ``changes``: fields of the plan that are to be other than before, by name. ``vault`` as in ``resume``.
    """
    with opened(store) as connection:
        run = find_run(connection, name)
        refuse_submitted(run)
        open_again(connection, run, vault, "retry", changes)
        made = retry_failed(connection, run, {name: absolute(value) for name, value in changes.items()})
    return Ready(store, made.number, made.run_id, made.cleared, made.tools, asked_again=made.asked, kept=made.kept)


def estimate(store: Path, asked: RunRequest) -> RunEstimate:
    """Return what a run would take before it is begun: calls, tokens, money and time.

    Nothing is sent or stored, and no key is asked for. Raises UsageError where the run may not be.
    """
    with opened(store) as connection:
        return estimate_with(connection, asked)


def estimate_with(connection: sqlite3.Connection, asked: RunRequest) -> RunEstimate:
    """Return the estimate from a store that is open, as for each run of a sweep."""
    plan = asked.plan
    rules = SendingRules.of(asked.corpus.dataset, asked.chosen, plan.run)
    clearance = rules.clearance()
    entries = reveal_all(asked.entries, clearance)
    method = build(plan.method, plan.options, asked.corpus.entries, no_key)
    rules.require_estimate(method.endpoint, method.setup.model_slug, plan.scoring)
    plan = rules.kept(plan)
    run_estimate = estimated(connection, entries, method, plan)
    return replace(run_estimate, judges=estimate_judges(connection, entries, method, plan))


def metrics(store: Path, asked: RunRequest) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the ids of the metrics that the run would have, and id → why it would not have each of the others.

    Looks for cards, analysers and models as ``start`` does, so it may take a while; stores nothing. Raises
    HarnessError with what keeps a metric off that was asked for.
    """
    with opened(store) as connection:
        tools = tools_for(connection, asked.corpus, asked.entries, asked.plan)
        try:
            return tools.setup.metrics, dict(tools.setup.off)
        finally:
            tools.close()


def verify(store: Path, card: str | Path, known: KnownSigners = UNKNOWN, against: Path | None = None) -> CardVerdict:
    """Check the seals of a card, and compute every number again from its outputs.

    ``card``: a file, or a run of the store by its id, the id's beginning, or ``last``; or the proof of a row, which is
    held ``against`` the file of a card where one is named. The seal of a key is looked for beside a file. Raises
    UsageError where there is neither, or the file is no card.
    """
    path = Path(card)
    with opened(store) as connection:
        if path.is_file():
            data = read_small_file(path)
            if (released := verify_released(data, with_own(known, home()))) is not None:
                if released.ok:
                    check_consent(released, data, connection)
                return released
            return verify_file(connection, path, known, against, home())
        run = find_run(connection, str(card), withdrawn=True)
        return verify_stored(connection, run, str(card), known, home())
