"""What keeps a run on this machine: secret entries, terms of the corpus, ``--offline`` (DESIGN V1).

What breaks beside secret entries is reported by its class and place: its words may quote a text.

Python itself prints what nobody catches: warnings, errors of threads, of lost tasks, and of objects that
go. Once a process opened secret entries, these go through here, until it ends. What a method prints by
itself, or through a log that it set up itself, is its own doing.

Servers on this machine that were given secret texts, and what a person learned of them before.

A server on this machine is not this machine: Ollama sends texts to its cloud for models of a cloud, and
any program that listens here may forward what it gets. Nobody can see that from outside, so it is said
once for each server, a person answers for it, and the answer is kept in the data folder.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from corpora.checks.envelope import unclear
from corpora.files.packed_list import PlaceMap
from corpora.model.corpus import Dataset
from corpora.model.entry import AnyEntry, SecretEntry, reveal_here
from corpora.model.terms import Clearance, Terms
from corpora.model.vocabularies import LOCAL_ONLY, Sending, Transmission, is_within
from harness.core.failures import UsageError
from harness.core.storage import private_folder, write_file
from harness.endpoint import offline
from harness.endpoint.endpoints import Endpoint, KeySource, chat_endpoint, find_key, is_loopback
from harness.endpoint.offline import why_secret
from harness.method.method import Method
from harness.method.option_table import METHODS
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.shipped_methods.registry import build
from harness.store.sqlite.database import home
from harness.vault.secret_text import no_core_dumps
from harness.vault.withholding import quieten

# ---- Whether texts may be sent to an endpoint: what the terms of their corpus say, and what a
# person answered for.
#
# Licence classes and terms decide (``corpora.model.terms``). What no term settles is asked of a
# person, whose words are on the card; in a pipe it is refused. An endpoint that a term names is
# compared in the one form that an address has, so that a name that looks like it is another.

MAY_SEND = "--may-send"


class MayNotSend(UsageError):  # noqa: N818  said of the texts
    """The terms of a corpus forbid to send its texts there; the message names term, rule and fix."""


class NobodySaidWhetherToSend(MayNotSend):
    """No term settles whether texts may be sent there, and nobody has answered."""

    def __init__(self, terms: Terms, host: str) -> None:
        self.host = host
        super().__init__(
            f"May these texts be sent to {host}? {_term(terms)} Rule: {_rule(terms)}. Anyone who may decide says so, and on whose "
            f'word, with {MAY_SEND} "WORDS", which the card repeats. To settle it for good, write "transmission" into the corpus: '
            '"open", "local-only", or a list of addresses.'
        )


def require_sending(dataset: Dataset, entries: Sequence[AnyEntry], url: str, may_send: str | None) -> None:
    """Raise MayNotSend where the terms of a corpus forbid to send texts of these entries to an address.

    ``may_send``: a person's words that they may, where no term settles it.
    """
    rules = SendingRules.of(dataset, PlaceMap.of(entries), RunOptions(may_send=may_send))
    rules.require_terms(Server.at(url))


def _require(terms: Terms, sending: Sending, server: Server, may_send: str | None, segment: str) -> None:
    url = server.url
    where = f" of {segment}" if terms.segments and segment else ""
    if sending.transmission is Transmission.NOWHERE:
        raise MayNotSend(
            f"These texts{where} go nowhere, not even to a server on this machine such as {url}. {_term(terms)} Rule: "
            f"{_rule(terms)}. Use a method that asks no server, such as glossary or your own code, or ask the owner of the "
            "texts for another term."
        )
    if server.here:
        return
    if sending.transmission.kept_here:
        raise MayNotSend(
            f"These texts{where} stay on this machine, and {url} is on another one. {_term(terms)} Rule: {_rule(terms)}. Use a "
            "method, judge or model that runs on this machine, or ask the owner of the texts for another term."
        )
    if sending.transmission is Transmission.NAMED and not is_within(url, sending.endpoints):
        raise MayNotSend(
            f"These texts{where} may be sent to {', '.join(sending.endpoints)} only, and {url} is another address, however "
            f"much alike they look. {_term(terms)} Rule: {_rule(terms)}. Name one of these with --endpoint, use a method on this "
            "machine, or ask the owner of the texts to name this one too."
        )
    if _asks(terms, sending) and may_send is None:
        raise NobodySaidWhetherToSend(terms, urlsplit(url).hostname or url)


def _asks(terms: Terms, sending: Sending) -> bool:
    """Return whether a person has to say that texts may be sent."""
    learnt = terms.training is False and sending.transmission is Transmission.OPEN
    return learnt or sending.transmission is Transmission.ASK


def _term(terms: Terms) -> str:
    return f"Term: {terms.because}." if terms.because else "Term: the corpus names no licence and no other term."


def _rule(terms: Terms) -> str:
    if terms.training is False and terms.transmission in (Transmission.OPEN, Transmission.ASK):
        learn = "no model may learn from them, and whether a service does from what it gets, a person has to find out"
        return learn if terms.transmission is Transmission.OPEN else f"{terms.rule}; {learn}"
    return terms.rule


FILE = "local-servers.json"
"""In the data folder: address of a server → when a person answered for it (ISO 8601, UTC)."""

TRUST_LOCAL_SERVER = "--trust-local-server"


class NobodyAnswersForServer(UsageError):  # noqa: N818  said of the server
    """No person has said yet that a server on this machine keeps what it gets."""

    def __init__(self, url: str) -> None:
        self.url = url
        super().__init__(
            f"The server at {url} is on this machine, but it may forward what it gets to another one, "
            "and Rosetta cannot see that. These entries are secret. If you know that it keeps texts here, "
            f"say so once with {TRUST_LOCAL_SERVER}."
        )


def answered() -> dict[str, str]:
    """Return the servers that a person answered for; a file that cannot be read answers for none."""
    try:
        stored = json.loads(_file().read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    pairs = stored.items() if isinstance(stored, dict) else ()
    return {url: when for url, when in pairs if isinstance(when, str)}


def remember(url: str) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    private_folder(home())
    text = json.dumps(answered() | {url: now}, ensure_ascii=False, indent=2)
    write_file(_file(), f"{text}\n".encode(), overwrite=True)


LISTENING_SECONDS = 0.5
"""A port of this machine answers at once; one that takes longer is taken for one where something listens."""


def nobody_listens(url: str) -> bool:
    """Return whether a port of this machine refuses connections now; nothing is sent, and False for other hosts."""
    parts = urlsplit(url)
    if not is_loopback(url) or parts.hostname is None:
        return False
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname, port), LISTENING_SECONDS):
            return False
    except ConnectionRefusedError:
        return True
    except (OSError, ValueError):
        return False


def _file() -> Path:
    return home() / FILE


# ---- The rules of a run: checked once for each server, before its key is looked for. What comes of them is a clearance.


class Server(NamedTuple):
    """A server that would be asked."""

    url: str
    here: bool
    """On this machine."""

    @classmethod
    def at(cls, url: str) -> Server:
        return cls(url, is_loopback(url))


@dataclass(frozen=True, slots=True)
class SendingRules:
    """The limits that secrecy, terms and ``--offline`` set for the entries of a run."""

    terms: Terms
    entries: Sequence[AnyEntry]
    """Those of the run."""
    options: RunOptions
    by_segment: Mapping[str, Sending]
    strictest: Sending
    """Of all segments, and of what stays here."""
    secret: frozenset[int]
    """Places of the secret entries."""

    @classmethod
    def of(cls, dataset: Dataset, entries: PlaceMap[AnyEntry], options: RunOptions) -> SendingRules:
        terms = dataset.terms
        secret: set[int] = set()
        segments: dict[str, bool] = {}  # whether all entries of each are secret
        for place, entry in zip(entries.places, entries.in_order, strict=True):
            name, is_secret = str(entry.segment or ""), entry.secret
            segments[name] = is_secret and segments.get(name, True)
            if is_secret:
                secret.add(place)
        by_segment = terms.by_segment(segments)
        kept = [LOCAL_ONLY] if secret or options.offline else []
        strictest = reduce(Sending.strictest, [*by_segment.values(), *kept], Sending(Transmission.OPEN))
        return cls(terms, entries.in_order, options, by_segment, strictest, frozenset(secret))

    @property
    def stays_here(self) -> bool:
        """True where nothing of the run may leave this machine."""
        return bool(self.secret) or self.options.offline

    def kept(self, plan: Plan) -> Plan:
        """Return the plan of the run, offline where it stays here."""
        run = plan.run.model_copy(update={"offline": True})
        return plan.model_copy(update={"run": run}) if self.stays_here else plan

    @property
    def sending(self) -> Sending:
        """Where texts may go, whichever server is asked; nowhere else but here where nobody said yet that they may."""
        unsaid = self.options.may_send is None and _asks(self.terms, self.strictest)
        return LOCAL_ONLY if unsaid else self.strictest

    def clearance(self, plan: Plan | None = None) -> Clearance:
        """Return what may be done with the texts; connections to other machines are refused from now on where that asks for it.

        It comes before the code of a method or the libraries of a model are loaded: both run from their first line. The
        method of a ``plan`` that is code of others and names no endpoint could send anywhere, so the terms must allow that.
        """
        sending = self.sending
        if self.secret:
            offline.shut(offline.SECRET)
            quieten()
            no_core_dumps()
        elif self.options.offline:
            offline.shut(offline.OFFLINE)
        elif (
            plan is not None
            and plan.method not in METHODS
            and plan.options.endpoint is None
            and sending.transmission not in (Transmission.OPEN, Transmission.ASK)
        ):
            offline.shut(offline.TERMS)
        marks = frozenset(entry.mark for entry in self.entries if isinstance(entry, SecretEntry))
        return Clearance(self.secret, sending, marks)

    def require(self, server: Server, *, answer: bool = True) -> None:
        """Raise UsageError where a method must not ask a server. ``answer`` False: nobody has to answer for it now."""
        self.require_terms(server)
        self.require_here(server)
        if answer:
            self.require_answer(server)

    def require_method(self, method: Method, *, answer: bool = True, permitted: Collection[str] = ()) -> None:
        """Raise UsageError where a method must not be asked; ``permitted``: addresses at which ``require`` has looked."""
        if method.endpoint is not None:
            if method.endpoint not in permitted:
                self.require(Server.at(method.endpoint), answer=answer)
            self.require_model(method.setup.model_slug)

    def require_estimate(self, url: str | None, model: str, scoring: ScoringOptions) -> None:
        """Raise UsageError where a run is refused whatever a person says; an estimate sends nothing."""
        server = None if url is None else Server.at(url)
        if self.terms.local_only:
            for asked in [*([] if server is None else [server]), *scoring_servers(scoring)]:
                self.require_terms(asked)
        if server is not None:
            self.require_here(server)
            self.require_model(model)

    def require_terms(self, server: Server) -> None:
        """Raise MayNotSend where the terms forbid a server; one elsewhere is refused by ``require_here`` where ``--offline`` alone does."""
        if server.here or not self.options.offline or self.terms.local_only:
            for segment, sending in self.by_segment.items():
                _require(self.terms, sending, server, self.options.may_send, segment)

    def require_here(self, server: Server) -> None:
        """Raise UsageError where a run that stays on this machine would ask another one."""
        if server.here:
            return
        if not self.stays_here:
            if shut := offline.why():
                raise UsageError(
                    f"{shut}: this was so in an earlier run of this program, so it connects to no other machine "
                    "until it is closed. Close Rosetta, open it again, and begin this run."
                )
            return
        # where terms keep the whole corpus here, no other entries would do
        whole = all(entry.local_only for entry in self.entries)
        others = "Choose" if whole else "Choose entries of another segment, or"
        raise UsageError(
            f"{self._why_here} the method would send them to another machine. {others} a method that runs on this machine."
            if self.secret
            else f"{self._why_here} the method's endpoint is not on this machine. Leave --offline out, or name a local endpoint."
        )

    def require_model(self, model: str) -> None:
        """Raise UsageError where a run that stays on this machine would ask a server on it for a model of a cloud."""
        if self.stays_here and is_cloud_model(model):
            raise UsageError(
                f"{self._why_here} the model {model} is named as one of a cloud: a local server such as Ollama would "
                "send the texts there. Name a model that runs on this machine."
            )

    @property
    def _why_here(self) -> str:
        return f"{why_secret(self.entries)}, and" if self.secret else "--offline is on, and"

    def require_answer(self, server: Server) -> None:
        """Raise NobodyAnswersForServer before secret texts go to a server on this machine that nobody answered for."""
        if not self.secret or not server.here:
            return
        if self.options.trust_local_server:
            remember(server.url)
        elif server.url not in answered():
            raise NobodyAnswersForServer(server.url)


@dataclass(frozen=True, slots=True)
class ClearedMethod:
    """A method that may be asked about the entries of a run, and as what."""

    method: Method
    plan: Plan
    """Offline where the entries stay on this machine."""
    clearance: Clearance


Make = Callable[[KeySource], Method]
"""Makes a method; finds its keys by what it is given."""


def clear(
    dataset: Dataset,
    entries: PlaceMap[AnyEntry],
    plan: Plan,
    corpus: Sequence[AnyEntry] = (),
    find_key: KeySource = find_key,
    make: Make | None = None,
    *,
    answered_before: bool = False,
) -> ClearedMethod:
    """Check everything that could keep a run from sending, and make its method, behind a shut door where one is needed.

    ``entries``: those of the run, by place in the ``corpus``. ``find_key`` is asked only for a server that may be sent the
    texts. ``make``: makes the method in place of the plan's. ``answered_before``: a person answered for the servers when the
    run was begun. Raises UsageError where the method may not be asked, or cannot be made.
    """
    servers = scoring_servers(plan.scoring)
    refuse_not_stored(entries.in_order)
    rules = SendingRules.of(dataset, entries, plan.run)
    # A file with such marks is refused when it is read; stores that were filled before may hold them.
    for words in unclear(dataset, rules.terms, reveal_here(rules.entries)):
        raise UsageError(words)
    clearance = rules.clearance(plan)
    for server in servers:
        rules.require_terms(server)
    permitted: set[str] = set()

    def permitted_key(endpoint: Endpoint) -> str | None:
        rules.require(Server(endpoint.url, endpoint.local), answer=not answered_before)
        permitted.add(endpoint.url)
        return find_key(endpoint)

    method = build(plan.method, plan.options, corpus, permitted_key) if make is None else make(permitted_key)
    rules.require_method(method, answer=not answered_before, permitted=permitted)
    for server in () if answered_before else servers:
        rules.require_answer(server)
    return ClearedMethod(method, rules.kept(plan), clearance)


def clear_scoring(
    dataset: Dataset, entries: PlaceMap[AnyEntry], options: RunOptions, scoring: ScoringOptions
) -> Clearance:
    """Check whether outputs of these entries may be sent to the servers that score them; no method is asked.

    Raises UsageError where one of them must not be asked.
    """
    rules = SendingRules.of(dataset, entries, options)
    clearance = rules.clearance()
    for server in scoring_servers(scoring):
        rules.require_terms(server)
        rules.require_answer(server)
    return clearance


NO_CORPUS: Final = Clearance(sending=Sending(Transmission.OPEN))
"""For texts that belong to no corpus: a prompt without entries, and those that a script gives. It reveals no sealed entry."""


def cleared_at_home(sending: Sending) -> Clearance:
    """Return what a worker may do with entries that it was sent: none of them is secret (``SendingRules`` of the sender)."""
    return Clearance(sending=sending)


def scoring_servers(scoring: ScoringOptions) -> list[Server]:
    """Return the servers that are asked about outputs."""
    names = (scoring.judge, scoring.embeddings)
    return [Server.at(chat_endpoint(name).url) for name in names if name and not Path(name).is_dir()]


def is_cloud_model(model: str) -> bool:
    """Return whether the name of a model ends in ``cloud``, as Ollama names those that run elsewhere."""
    return model.strip().casefold().endswith("cloud")


def refuse_not_stored(entries: Iterable[AnyEntry]) -> None:
    """Raise UsageError where the store has no text of an entry that a run asks for."""
    lacking = sum(entry.not_stored for entry in entries)
    if lacking:
        raise UsageError(
            f"The store does not hold {lacking:,} of these entries: they are secret, and no run used "
            "them. Name the corpus file instead."
        )
