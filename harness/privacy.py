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
import logging
import socket
import sys
import threading
import warnings
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from corpora.checks.envelope import misplaced, without_roles
from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.model.terms import FIELD, Terms
from corpora.model.vocabularies import Sending, Transmission, is_within
from harness.annotators.annotator import AskingAnnotator
from harness.core.failures import UsageError
from harness.core.storage import private_folder, write_file
from harness.endpoint import offline
from harness.endpoint.endpoints import KeySource, chat_endpoint, find_key, is_loopback, no_key
from harness.endpoint.offline import why_secret
from harness.method.method import Method
from harness.method.option_table import METHODS
from harness.methods.registry import build
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import ScoringTools
from harness.store.file.database import home
from harness.vault.secret_text import no_core_dumps

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


def require_sending(dataset: Dataset, entries: Sequence[Entry], url: str | None, may_send: str | None) -> None:
    """Raise MayNotSend where texts of these entries must not go to an endpoint; None: nothing is sent.

    ``may_send``: a person's words that they may, where no term settles it. Entries that are secret by their segment alone
    are judged elsewhere, and more strictly (``harness.privacy``).
    """
    if url is None:
        return
    terms = dataset.terms
    for segment, sending in _by_segment(terms, entries).items():
        _require(terms, sending, url, may_send, segment)


def may_go_anywhere(dataset: Dataset, entries: Sequence[Entry], may_send: str | None) -> bool:
    """Return whether terms let the texts go wherever code of others may send them."""
    terms = dataset.terms
    transmissions = [sending.transmission for sending in _by_segment(terms, entries).values()]
    if not {*transmissions} <= {Transmission.OPEN, Transmission.ASK}:
        return False
    unasked = Transmission.ASK not in transmissions and terms.training is not False
    return may_send is not None or unasked


def _by_segment(terms: Terms, entries: Iterable[Entry]) -> dict[str, Sending]:
    """Return what holds for the segments of some entries; of secret ones only where it is the terms that keep them."""
    sendings: dict[str, Sending] = {}
    for entry in entries:
        segment = str(entry.segment or "")
        if segment not in sendings:
            sending = terms.sending(segment or None)
            if not entry.secret or sending.transmission.kept_here:
                sendings[segment] = sending
    return sendings


def _require(terms: Terms, sending: Sending, url: str, may_send: str | None, segment: str) -> None:
    where = f" of {segment}" if terms.segments and segment else ""
    if sending.transmission is Transmission.NOWHERE:
        raise MayNotSend(
            f"These texts{where} go nowhere, not even to a server on this machine such as {url}. {_term(terms)} Rule: "
            f"{_rule(terms)}. Use a method that asks no server, such as glossary or your own code, or ask the owner of the "
            "texts for another term."
        )
    if is_loopback(url):
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
    asks = sending.transmission is Transmission.ASK or (
        terms.training is False and sending.transmission is Transmission.OPEN
    )
    if asks and may_send is None:
        raise NobodySaidWhetherToSend(terms, urlsplit(url).hostname or url)


def _term(terms: Terms) -> str:
    return f"Term: {terms.because}." if terms.because else "Term: the corpus names no licence and no other term."


def _rule(terms: Terms) -> str:
    if terms.training is False and terms.transmission in (Transmission.OPEN, Transmission.ASK):
        learn = "no model may learn from them, and whether a service does from what it gets, a person has to find out"
        return learn if terms.transmission is Transmission.OPEN else f"{terms.rule}; {learn}"
    return terms.rule


def quieten() -> None:
    """Remove the words of foreign code from everything that Python would print, from now on."""
    sys.unraisablehook = lambda raised: _tell("An error that cannot be raised", raised.exc_type, raised.exc_traceback)
    threading.excepthook = lambda raised: _tell("A thread ended", raised.exc_type, raised.exc_traceback)
    warnings.showwarning = lambda _, category, file, line, *_more: _print(
        f"A warning: {category.__name__}, at {file}:{line}"
    )
    logging.lastResort = _Unquoted(logging.WARNING)


class _Unquoted(logging.Handler):
    """Says who logged what kind of error where, and nothing of the message."""

    def emit(self, record: logging.LogRecord) -> None:
        message = f"Logged by {record.name} ({record.levelname})"
        if record.exc_info and record.exc_info[0] is not None:
            _tell(message, record.exc_info[0], record.exc_info[2])
        else:
            _print(f"{message}, at {record.pathname}:{record.lineno}")


def _tell(what: str, kind: type[BaseException] | None, traceback: TracebackType | None) -> None:
    place = ""
    while traceback is not None:
        place = f", at {traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    _print(f"{what}: {'an error' if kind is None else kind.__name__}{place}")


def _print(line: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{line}. Its words are withheld: secret entries were opened.\n")


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


def require_answer(entries: Iterable[Entry], method: Method, plan: Plan) -> None:
    """Raise NobodyAnswersForServer before the first secret run against a server that nobody answered for."""
    require_answer_for(entries, method.endpoint, trusted=plan.run.trust_local_server)


def require_answer_for(entries: Iterable[Entry], url: str | None, *, trusted: bool) -> None:
    """Require the same for any server, such as a judge's; ``trusted``: a person answers for it now."""
    if url is None or not any(entry.secret for entry in entries):
        return
    if trusted:
        remember(url)
    elif url not in answered():
        raise NobodyAnswersForServer(url)


def require_answers(entries: Sequence[Entry], tools: ScoringTools, *, trusted: bool) -> None:
    """Require the same for the servers that annotate outputs."""
    for annotator in tools.annotators:
        if isinstance(annotator, AskingAnnotator):
            require_answer_for(entries, annotator.endpoint, trusted=trusted)


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


def make_method(
    plan: Plan,
    corpus: Sequence[Entry],
    entries: Sequence[Entry],
    find_key: KeySource = find_key,
    dataset: Dataset | None = None,
) -> Method:
    """Make the method of a plan for some entries of a corpus, behind a shut door where one is needed.

    ``find_key`` is asked only once it is known that the method may be used; ``dataset`` says it before that what its
    terms forbid. Raises UsageError where it may not, or cannot be made.
    """
    shut_door(entries, plan, dataset)
    described = build(plan.method, plan.options, corpus, no_key)
    if dataset is not None:
        require_terms(dataset, entries, described, plan)
    keep_here(entries, described, plan)
    require_answer(entries, described, plan)
    return build(plan.method, plan.options, corpus, find_key)


def shut_door(entries: Iterable[Entry], plan: Plan | None = None, dataset: Dataset | None = None) -> None:
    """Refuse all connections to other machines from now on, where entries, plan or terms ask for it.

    Before the code of a method or the libraries of a model are loaded: both run from their first line. Code of others
    that names no endpoint could send anywhere, so the terms of ``dataset`` must allow that.
    """
    known = list(entries)
    if any(entry.secret for entry in known):
        offline.shut(offline.SECRET)
        quieten()
        no_core_dumps()
    elif plan is not None and plan.run.offline:
        offline.shut(offline.OFFLINE)
    elif (
        plan is not None
        and dataset is not None
        and plan.method not in METHODS
        and plan.options.endpoint is None
        and not may_go_anywhere(dataset, known, plan.run.may_send)
    ):
        offline.shut(offline.TERMS)


def require_terms(dataset: Dataset, entries: Sequence[Entry], method: Method | None, plan: Plan) -> None:
    """Raise MayNotSend where the terms forbid an endpoint of the run: the method's, a judge's or that of embeddings.

    One on another machine is refused by ``keep_here`` where nothing but ``--offline`` forbids it.
    """
    asked = [] if method is None else [method.endpoint]
    judged = dataset.terms.local_only or not plan.run.offline
    for url in [*asked, *scoring_endpoints(plan.scoring)]:
        if url is not None and (judged or is_loopback(url)):
            require_sending(dataset, entries, url, plan.run.may_send)


def scoring_endpoints(scoring: ScoringOptions) -> list[str]:
    """Return the addresses of the servers that are asked about outputs."""
    names = (scoring.judge, scoring.embeddings)
    return [chat_endpoint(name).url for name in names if name and not Path(name).is_dir()]


def keep_here(entries: Sequence[Entry], method: Method, plan: Plan) -> Plan:
    """Restrict an offline run, and any run with secret entries, to this machine.

    Raises UsageError where the method would call another machine.
    """
    secret = any(entry.secret for entry in entries)
    elsewhere = method.endpoint is not None and not is_loopback(method.endpoint)
    if not (secret or plan.run.offline):
        if elsewhere and (shut := offline.why()):
            raise UsageError(
                f"{shut}: this was so in an earlier run of this program, so it connects to no other machine "
                "until it is closed. Close Rosetta, open it again, and begin this run."
            )
        return plan
    why = f"{why_secret(entries)}, and" if secret else "--offline is on, and"
    # where terms keep the whole corpus here, no other entries would do
    whole = all(entry.local_only for entry in entries)
    others = "Choose" if whole else "Choose other entries with --segment, or"
    if elsewhere:
        raise UsageError(
            f"{why} the method would send them to another machine. {others} a method that runs on this machine."
            if secret
            else f"{why} the method's endpoint is not on this machine. Leave --offline out, or name a local endpoint."
        )
    if method.endpoint is not None and (model := cloud_model(method)) is not None:
        raise UsageError(
            f"{why} the model {model} is named as one of a cloud: a local server such as Ollama would "
            "send the texts there. Name a model that runs on this machine."
        )
    return plan.model_copy(update={"run": plan.run.model_copy(update={"offline": True})})


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
        for mark in misplaced(entry.model_extra or {}, known, entry.task.data):
            raise UsageError(f"Entry {entry.id}, field {mark.path!r}: {mark.wrong} {mark.mend}")
    for field, words in dataset.terms.unclear:
        raise UsageError(f"The corpus, field {field!r}: {words} Mend the file, and read it again.")
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
