"""What is true of a draft: what is in its corpus, what is wrong, what it would cost, what would be sent first.

Everything is asked of the code that the run itself uses; nothing is sent and nothing is stored.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from corpora.checks.requirements import requirements
from corpora.files.packed_list import PlaceMap
from corpora.files.problems import CorpusError, Problem, Severity
from corpora.model.corpus import Corpus
from corpora.model.entry import AnyEntry, Segment, reveal_here
from corpora.model.task import TASKS, TRANSLATION
from harness.consent.given import consent_of
from harness.core.calls import Request
from harness.core.failures import HarnessError, UsageError
from harness.endpoint.endpoints import Endpoint, chat_endpoint, find_key, no_key, service_endpoint
from harness.estimate.earlier import first_request
from harness.estimate.estimate import RunEstimate, estimate
from harness.inputs.outputs import own_outputs
from harness.method.method import Method, Priced
from harness.method.method_names import method_names
from harness.method.option_table import CORPUS, ENTRIES, METHODS
from harness.privacy import (
    NobodyAnswersForServer,
    NobodySaidWhetherToSend,
    SendingRules,
    nobody_listens,
    scoring_servers,
)
from harness.settings import read_settings
from harness.setup.plan import Plan
from harness.shipped_methods.registry import build
from harness.store.sqlite.database import opened
from harness.store.withdrawn import now_standing
from harness.sweep.expansion import SweepEstimate, estimate_sweep, expand
from harness.sweep.plan import PlanFile, plan_of_repeats, refuse_repeats
from harness.vault.folder import HEAD
from harness.vault.opening import BECAUSE, vault_at
from harness.vault.sealed_corpus import corpus_named
from rosetta_tui.request.draft import RunDraft
from rosetta_tui.request.fields import beside_field, field_of_options, field_of_words, needed, wrong_shapes
from rosetta_tui.request.options import typed_options
from rosetta_tui.request.reading import selection

MOST_PROBLEMS = 5
"""Problems of a corpus that are next to its field."""


@dataclass(frozen=True, slots=True)
class DraftTrouble:
    """One thing that keeps the run from beginning."""

    field: str | None
    """None where it is about no field alone."""
    words: str
    missing: bool = False
    """True where something is only not filled in yet: said at the start, not while somebody still types."""


@dataclass(frozen=True, slots=True)
class DraftLook:
    """What was found out about a draft."""

    troubles: tuple[DraftTrouble, ...] = ()
    corpus: CorpusLook | None = None
    read: Corpus | None = None
    """The corpus itself, as it was when the draft was examined."""
    chosen: int | None = None
    """Entries that take part."""
    secret: bool = False
    """True where some of them belong to a secret segment."""
    key: str = ""
    """Where the endpoint's key is, in words."""
    estimate: RunEstimate | None = None
    repeats: SweepEstimate | None = None
    """What all repeats take together; None where it is one run."""
    request: Request | None = None
    """The first call as it will be sent; None where none can be seen ahead."""
    silent: str = ""
    """Why there is none."""


Metrics = tuple[tuple[str, ...], dict[str, str]]
"""Metrics that are on, and why the others are off."""


@dataclass(slots=True)
class FormCache:
    """What was read once and need not be read with every key; belongs to one form.

    Looks of several threads share it: each takes whole values out, and puts whole values in.
    """

    corpora: Mapping[tuple[object, ...], tuple[Corpus, CorpusLook]] = field(default_factory=dict)
    """By what decides the reading; only the newest is kept."""
    metrics: Mapping[tuple[object, ...], Metrics] = field(default_factory=dict)
    """By what decides them; only the newest."""
    keys: dict[str, str] = field(default_factory=dict)
    """Endpoint → where its key is; asked once, because a keyring may ask its person."""


class _Stopped(Exception):  # noqa: N818  no error: the rest cannot be looked at before this is mended
    """Looking on makes no sense."""


def examine_draft(store_path: Path, draft: RunDraft, known: FormCache) -> DraftLook:
    """Find out what is true of a draft; blocks, so it belongs into a thread."""
    looking = _Looking(store_path, draft, known)
    try:
        looking.go()
    except _Stopped:
        pass
    except (CorpusError, HarnessError) as error:
        looking.wrong(str(error))
    return looking.found


class _Looking:
    """One look, step by step: each step adds to what is found, or ends it."""

    def __init__(self, store_path: Path, draft: RunDraft, known: FormCache) -> None:
        self.store_path = store_path
        self.draft = draft
        self.known = known
        self.found = DraftLook()

    def go(self) -> None:
        """Run every step that can be taken."""
        # Read each option on its own, as the command line does.
        for name, words in wrong_shapes(self.draft):
            self.wrong(words, name)
        if self.draft.get("repeats"):
            self._refuse_repeats()
        if self.draft.get("vault").strip():
            self._in_vault()
            return
        corpus = self._corpus()
        chosen = self._chosen(corpus)
        self._needed()
        try:
            plan = self.draft.plan(corpus)
        except UsageError as error:
            self._stop(str(error), field_of_options(str(error)))
        if self._plugin(plan):
            return
        method = self._method(corpus, chosen, plan)
        self._key(method, plan)
        # Look at the first call as it will be sent, and at what the run would take.
        entries = reveal_here(chosen)  # the form shows its words to who is to begin the run
        request = first_request(method, entries[: method.setup.batch_size])
        with opened(self.store_path) as connection:
            self._add(request=request, estimate=estimate(connection, entries, method, plan))
        if self.draft.get("repeats"):
            asked = drafted_repeats(self.draft)
            self._add(repeats=estimate_sweep(self.store_path, asked.plan, expand(asked, corpus)))
        if request is None:
            self._add(silent="This method asks nobody, so there is no prompt.")

    def _refuse_repeats(self) -> None:
        try:
            refuse_repeats(self.draft.values)
        except UsageError as error:
            self.wrong(str(error), "repeats")

    def _add(self, **more: Any) -> None:
        self.found = replace(self.found, **more)

    def wrong(self, words: str, name: str | None = None) -> None:
        """Add one thing that keeps the run from beginning."""
        about = name or field_of_words(words, self.draft.values)
        self._add(troubles=(*self.found.troubles, DraftTrouble(about, beside_field(words))))

    def _stop(self, words: str, name: str | None = None) -> NoReturn:
        self.wrong(words, name)
        raise _Stopped

    def _troubled(self, names: Collection[str]) -> bool:
        return any(trouble.field in names for trouble in self.found.troubles)

    def _only(self, names: Collection[str]) -> RunDraft:
        """Return what the draft says of some options; the command needs a method, whichever."""
        values = {name: value for name, value in self.draft.values.items() if name in names}
        return RunDraft.of({**values, "method": "copy-source"})

    def _needed(self) -> None:
        """Show what is not filled in yet; what the settings fill in is not missing."""
        method = self.draft.get("method")
        try:
            given = read_settings(self.store_path.parent).completed(method, self.draft.values)
        except HarnessError as error:
            self._stop(str(error))
        names = [name for name in needed(method) if not str(given.get(name, "")).strip()]
        read = self.found.read
        if "outputs" in names and read is not None and own_outputs(read.entries) is not None:
            names.remove("outputs")  # the records of the corpus bring theirs with them
        missing = [DraftTrouble(name, "This is needed.", missing=True) for name in names]
        self._add(troubles=(*self.found.troubles, *missing))
        if self.found.troubles:
            raise _Stopped

    def _corpus(self) -> Corpus:
        if not self.draft.get("file").strip() or self._troubled(CORPUS.names):
            self._needed()
        key = reading_key(self.draft)
        try:
            reading = self.known.corpora.get(key)
            if reading is None:
                corpus = self._only(CORPUS.names).corpus(self.store_path)
                reading = corpus, corpus_look(corpus)
                self.known.corpora = {key: reading}
        except CorpusError as error:
            wrong = [problem for problem in error.problems if problem.severity is Severity.ERROR]
            for problem in wrong[:MOST_PROBLEMS]:
                self.wrong(*in_the_form(problem))
            if (more := len(wrong) - MOST_PROBLEMS) > 0:
                self.wrong(f"And {more:,} more: `rosetta corpus check` lists all.", "file")
            raise _Stopped from None
        except HarnessError as error:
            self._stop(str(error), "file")
        corpus, counted = reading
        self._add(corpus=counted, read=corpus)
        return corpus

    def _in_vault(self) -> None:
        """Check what a vault says openly of a corpus: it is opened, and that is in its log, when the run begins."""
        name, folder = self.draft.get("file").strip(), Path(self.draft.get("vault").strip())
        try:
            corpus_look = vault_look(folder.expanduser(), name, self.store_path.parent) if name else None
        except UsageError as error:
            self._stop(str(error), "file" if (folder.expanduser() / HEAD).is_file() else "vault")
        alone = corpus_look is None or corpus_look.together == 1
        silent = (
            "A vault is opened when the run begins: its log keeps every opening. So nothing is counted before. "
            "With the start you allow, as a keeper, this run on this computer, once."
        )
        self._add(corpus=corpus_look, silent=silent)
        if not alone and not self.draft.get("others").strip():
            asked = {**self.draft.values, "purpose": self.draft.get("purpose").strip() or "WORDS"}
            command = RunDraft.of(asked).command()
            words = f"This vault opens for several keepers together: name the keys of those who are here. Those who are elsewhere are asked in a shell: {command}"
            self._add(troubles=(*self.found.troubles, DraftTrouble("others", words)))
        elif not self.draft.get("purpose").strip():
            missing = DraftTrouble("purpose", "This is needed.", missing=True)
            self._add(troubles=(*self.found.troubles, missing))
        self._needed()

    def _chosen(self, corpus: Corpus) -> list[AnyEntry]:
        if self._troubled(ENTRIES.names):
            self._needed()
        try:
            places = self._only(("file", *ENTRIES.names)).positions(corpus)
        except CorpusError as error:
            for problem in error.problems[:5]:
                name = "entries" if problem.entry is not None else problem.field
                self.wrong(f"{problem.message} {problem.mend}", name)
            raise _Stopped from None
        entries = [corpus.entries[place] for place in places]
        self._add(chosen=len(entries), secret=any(entry.secret for entry in entries))
        return entries

    def _plugin(self, plan: Plan) -> bool:
        """Check only that the file of a plug-in exists; its code is not run before the run begins."""
        if plan.method in METHODS:
            return False
        where, colon, name = plan.method.rpartition(":")
        if colon and where.endswith(".py"):
            if not Path(where).expanduser().is_file() or not name:
                self._stop(
                    f"The file {where} does not exist or has no class {name or 'named after the colon'}.", "method"
                )
        elif plan.method not in method_names():
            self._stop("There is no such method. ↓ lists all; your own is FILE.py or FILE.py:CLASS.", "method")
        self._add(silent="A plug-in's code is loaded when the run begins; its prompt is seen in the run.")
        return True

    def _method(self, corpus: Corpus, chosen: Sequence[AnyEntry], plan: Plan) -> Method:
        """Make the method without its key, and see that it may be used for these entries."""
        try:
            method = build(plan.method, plan.options, corpus.entries, no_key)
        except HarnessError as error:
            self._stop(str(error))
        try:
            rules = SendingRules.of(corpus.dataset, PlaceMap.of(chosen), plan.run)
            for server in scoring_servers(plan.scoring):
                rules.require_terms(server)
            rules.require_method(method, answer=not plan.run.trust_local_server)
        except NobodySaidWhetherToSend as error:
            self.wrong(str(error), "may_send")
        except NobodyAnswersForServer as error:
            self.wrong(str(error), "trust_local_server")
        except HarnessError as error:
            self.wrong(str(error), "endpoint" if "endpoint" in needed(plan.method) else "method")
        if plan.run.budget_usd is not None and isinstance(method, Priced):
            try:
                method.check_budget()
            except HarnessError as error:
                self.wrong(str(error), "budget")
        return method

    def _key(self, method: Method, plan: Plan) -> None:
        if method.endpoint is None:
            return
        try:
            if plan.method.startswith("api:"):
                endpoint = service_endpoint(plan.method.removeprefix("api:"), plan.options.endpoint)
            else:
                endpoint = chat_endpoint(plan.options.endpoint or "")
            words = self.known.keys.get(endpoint.url)
            if words is None:
                words = self.known.keys[endpoint.url] = key_words(endpoint)
            if nobody_listens(endpoint.url):  # on this machine; it may be started before the run begins
                words += f" · nothing listens there now{f': {endpoint.note}' if endpoint.note else ''}"
            self._add(key=words)
        except HarnessError as error:
            name = "endpoint" if "endpoint" in needed(plan.method) else "method"
            self.wrong(str(error), name)


def drafted_repeats(draft: RunDraft) -> PlanFile:
    """Return the plan of a draft's repeats, the same that the command makes; raises UsageError."""
    given = draft.given()
    return plan_of_repeats(given["repeats"], given, typed_options(given), selection(given))


def key_words(endpoint: Endpoint) -> str:
    """Return where an endpoint's key is, never the key; raises HarnessError where one is needed and missing."""
    if find_key(endpoint) is None:
        return "on this machine, no key needed" if endpoint.local else "no key"
    if os.environ.get(endpoint.environment, "").strip():
        return f"key from {endpoint.environment}"
    return "key from the keyring"


# ---- The corpus of a draft: which options decide its reading, what is in it, what the form says of its faults ----

_CORPUS_FIELDS = {
    "dataset.source_language": ("source_language", "Write a tag here, such as en, crk or es-MX."),
    "dataset.target_language": ("target_language", "Write a tag here, such as en, crk or es-MX."),
    "dataset.task": ("task", "Write a task of docs/corpora.md, such as qa."),
    "dataset.id": ("corpus_id", "Write an id here."),
}
"""Field of a corpus's problem → field of the form that can say it instead, and how."""


@dataclass(frozen=True, slots=True)
class CorpusLook:
    """What is in a corpus, in counts; never a text."""

    title: str
    """Id and languages, and what is asked where it is no translation."""
    entries: int
    segments: Mapping[str, int]
    tiers: Mapping[str, int]
    warnings: Sequence[str]
    unmet: Sequence[str]
    """Minimum requirements that it does not meet."""
    target_language: str
    terms: str = ""
    """What keeps its texts on this machine; empty where nothing does."""
    sealed: bool = False
    """True where it is in a vault, which is not opened for a look."""
    together: int = 1
    """How many keepers of that vault open it together."""


def corpus_look(corpus: Corpus) -> CorpusLook:
    """Count what is in a corpus, with the findings of ``rosetta corpus check``."""
    dataset = corpus.dataset
    segments = Counter(str(entry.segment.value) for entry in corpus.entries if entry.segment)
    tiers = Counter(str(entry.difficulty) for entry in corpus.entries if entry.difficulty)
    asks = "" if dataset.task == TRANSLATION else f" · {TASKS[dataset.task].title}"
    return CorpusLook(
        title=f"{dataset.name} · {dataset.source_language} → {dataset.target_language}{asks}",
        entries=len(corpus.entries),
        segments=dict(sorted(segments.items())),
        tiers=dict(sorted(tiers.items())),
        warnings=[f"{problem.message} {problem.mend}" for problem in corpus.warnings],
        unmet=[
            f"{row.name}: {row.found} of {row.needed}"
            for row in requirements(corpus, consent_of(corpus, now_standing()))
            if not row.met
        ],
        target_language=dataset.target_language,
        terms=dataset.terms.words if dataset.terms.local_only else "",
    )


def vault_look(folder: Path, name: str, home: Path) -> CorpusLook:
    """Return what a vault tells openly of a corpus of this name; raises UsageError where there is none."""
    state = vault_at(folder, home).read()
    _, stored = corpus_named(state, name)
    segments = {str(segment.value): count for segment, count in sorted(stored.entries.items()) if count}
    return CorpusLook(
        title=f"{stored.name} · sealed",
        entries=sum(stored.entries.values()),
        segments={segment_name: n for segment_name, n in segments.items() if segment_name != Segment.HELD_OUT},
        tiers={},
        warnings=[],
        unmet=[],
        target_language="",
        terms=f"no text leaves this machine ({BECAUSE})",
        sealed=True,
        together=state.threshold,
    )


def in_the_form(problem: Problem) -> tuple[str, str]:
    """Return what the form says of a problem with a corpus, where an option of the command would fix it."""
    side = problem.field or ""
    if f"--{side}-column" in problem.mend:
        return f"{problem.message} Write its name, or its number from 1, here.", f"{side}_column"
    name, mend = _CORPUS_FIELDS.get(problem.field or "", ("file", ""))
    if mend and problem.mend.startswith("Write it in the file"):
        return f"The file does not say it. {mend}", name
    if mend and "than the option" in problem.message:
        return "The file says something else. Leave this empty, or correct the file.", name
    # Where in the file it is; the file itself is in the form.
    places = {"line": problem.line, "entry": problem.entry, "field": problem.field}
    where = ", ".join(f"{part} {place}" for part, place in places.items() if place is not None)
    before = f"{where[0].upper()}{where[1:]}: " if where else ""
    return f"{before}{problem.message} {problem.mend}", name


def reading_key(draft: RunDraft) -> tuple[object, ...]:
    """Return what decides the reading of a draft's corpus: another file, or the same saved again, is another."""
    key: list[object] = [draft.values.get(name) for name in CORPUS.names]
    for name in ("file", "reference"):
        try:
            stat_result = Path(draft.get(name)).stat()
            key.append((stat_result.st_mtime_ns, stat_result.st_size))
        except (OSError, ValueError):
            key.append(None)
    return tuple(key)
