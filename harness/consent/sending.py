"""Whether texts may be sent to an endpoint: what the terms of their corpus say, and what a person answered for.

Licence classes and terms decide (``corpora.model.terms``). What no term settles is asked of a person, whose words are on
the card; in a pipe it is refused. An endpoint that a term names is compared in the one form that an address has, so that a
name that looks like it is another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.model.sending import Sending, Transmission, is_within
from corpora.model.terms import Terms
from harness.core.failures import UsageError
from harness.endpoint.endpoints import is_loopback

OPTION = "--may-send"


class MayNotSend(UsageError):  # noqa: N818  said of the texts
    """The terms of a corpus forbid to send its texts there; the message names term, rule and fix."""


class NobodySaidWhetherToSend(MayNotSend):
    """No term settles whether texts may be sent there, and nobody has answered."""

    def __init__(self, terms: Terms, host: str) -> None:
        self.host = host
        super().__init__(
            f"May these texts be sent to {host}? {_term(terms)} Rule: {_rule(terms)}. Anyone who may decide says so, and on whose "
            f'word, with {OPTION} "WORDS", which the card repeats. To settle it for good, write "transmission" into the corpus: '
            '"open", "local-only", or a list of addresses.'
        )


def require_sending(
    dataset: Dataset, entries: Sequence[Entry], url: str | None, may_send: str | None
) -> None:
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
    if any(
        transmission not in (Transmission.OPEN, Transmission.ASK) for transmission in transmissions
    ):
        return False
    return may_send is not None or (
        Transmission.ASK not in transmissions and terms.training is not False
    )


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
    return f"Term: {terms.because}." if terms.because else "Term: the corpus names no licence and no other term."  # fmt: skip


def _rule(terms: Terms) -> str:
    if terms.training is False and terms.transmission in (Transmission.OPEN, Transmission.ASK):
        learn = "no model may learn from them, and whether a service does from what it gets, a person has to find out"
        return learn if terms.transmission is Transmission.OPEN else f"{terms.rule}; {learn}"
    return terms.rule
