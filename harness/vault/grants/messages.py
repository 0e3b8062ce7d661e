"""What a request asks for, how it stands, and why a grant cannot be used, in words that name what is to be done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from corpora.model.entry import Segment
from harness.sealed.keys import key_phrase
from harness.sealed.phrase import phrase
from harness.sealed.strict_records import FileProblem
from harness.vault.folder import VaultState
from harness.vault.ledger import Grant, request_id, splitting
from harness.vault.log import VaultError
from harness.vault.records import GrantRequest, RunTerms
from harness.vault.work import VaultWork

_ANEW = "Ask for a new one (--ask)."


def refuse_unusable(state: VaultState, grant: Grant, run: RunTerms | None, now: str) -> None:
    """Raise VaultError where a grant does not open what is about to be done; nothing is used up."""
    refuse_over(state, grant, now)
    refuse_other_run(grant.request.run, run)
    if len(grant.allowed_by(state.keepers)) < state.threshold:
        raise VaultError(FileProblem.LOCKED, f"Too few keepers allow it. {standing(state, grant)}")


def refuse_over(state: VaultState, grant: Grant, now: str) -> None:
    """Raise VaultError where nobody can use a grant any more, whatever the keepers say."""
    request = grant.request
    if grant.used:
        raise VaultError(
            FileProblem.LOCKED, f"This grant was used up at {grant.used}: it opens once. {_ANEW}"
        )
    stored = state.head.corpora.get(request.corpus)
    if stored is None or stored.texts != request.texts:
        raise VaultError(
            FileProblem.INVALID,
            f"The texts of {request.name!r} in {state.folder} are not those of the request: entries were moved or sealed again "
            f"since, or this is an older copy. {_ANEW}",
        )
    if splitting(state.split) != request.split:
        raise VaultError(
            FileProblem.INVALID,
            f"The keepers got new shares since this was asked for, so answers to it open nothing any more. {_ANEW}",
        )
    if grant.expired(now):
        after = (
            f"it is {now} now"
            if now > request.expires
            else f"the log of the vault has a line of {grant.latest}, whatever the clock shows now"
        )
        raise VaultError(
            FileProblem.LOCKED,
            f"This grant could be used until {request.expires}, and {after}. {_ANEW}",
        )


def refuse_other_run(granted: RunTerms | None, run: RunTerms | None) -> None:
    """Raise VaultError where something else is about to be run over the texts than was granted."""
    if granted == run:
        return
    if granted is None or run is None:
        what = "to open the texts and check them" if granted is None else "a run"
        other = "a run" if granted is None else "to open the texts and check them"
        use = f"It was granted {what}, and this is {other}"
    elif (granted.method, granted.run) != (run.method, run.run):
        use = f"It was granted for {run_words(granted)}, and this is {run_words(run)}"
    elif (granted.laptops, granted.recipients) != (run.laptops, run.recipients):
        use = "It was granted for other laptops than those that are named. Give the same files with --for as in the request"
    elif granted.scorer != run.scorer:
        use = (
            f"It was granted for Rosetta {granted.scorer}, and this is {run.scorer}, which may score "
            "differently"
        )
    else:
        use = (
            "It was granted for this method with other options, files, metrics or entries, or for other code of it. Give the same "
            "ones as in the request"
        )
    raise VaultError(FileProblem.INVALID, f"{use}. Nothing was used up. {_ANEW}")


def run_words(run: RunTerms) -> str:
    """Return what is to be done with opened texts."""
    return f"{run.method} of run {run.run[:8]}" if run.run else f"the method {run.method!r}"


def standing(state: VaultState, grant: Grant) -> str:
    """Return who allows a request, who refuses it and why, who has not answered, and how many are missing."""
    keepers, needed = state.keepers, state.threshold
    allowed, refused = grant.allowed_by(keepers), grant.refused_by(keepers)
    silent = [keeper for keeper in keepers if keeper not in {*allowed, *refused}]
    gone = sum(key not in keepers for key in grant.answers)
    sentences = [f"{needed} must allow it."]
    if allowed:
        sentences.append(f"Allowed by {counted_names(state, allowed)}.")
    sentences += [
        f"Refused by {keepers[key].name}: {grant.answers[key].reason}." for key in refused
    ]
    if silent:
        sentences.append(f"No answer yet from {counted_names(state, silent)}.")
    if gone:
        sentences.append(f"{gone} who answered can open nothing any more: no keeper now.")
    if len(allowed) + len(silent) < needed:
        sentences.append("So it can no longer be allowed.")
    return " ".join(sentences)


def counted_names(state: VaultState, keys: Sequence[str]) -> str:
    """Return the names of keepers by their signing keys, with commas between them."""
    return ", ".join(state.keepers[key].name for key in keys if key in state.keepers)


def counts(entries: Mapping[Segment, int]) -> str:
    """Return how many entries are in each segment."""
    return ", ".join(f"{count:,} {segment}" for segment, count in sorted(entries.items()) if count)


def request_lines(
    request: GrantRequest, state: VaultState, *, compared: bool = True
) -> Iterator[str]:
    """Return what a request asks for, line by line, with the six words that people compare, which are slow to make."""
    yield asked_words(request, state)
    for name, words in request_facts(request, compared=compared):
        yield _line(name, words)


def asked_lines(request: GrantRequest, state: VaultState, file: Path) -> Iterator[str]:
    """Return what the keepers are asked for, and the next steps."""
    yield from request_lines(request, state)
    needed = "One keeper" if state.split is None else f"{state.threshold} keepers"
    yield f"Written: {file}. {needed} must allow it; you are one of them too, and answer in the same way: rosetta vault grant allow."
    yield "Once they allow it: the same command, with --grant in place of --purpose and --ask."


def at_once_lines(request: GrantRequest, state: VaultState) -> Iterator[str]:
    """Return what a keeper allows with their own keys, at once."""
    who = "You allow, as a keeper" if state.split is None else "The keepers who are here allow"
    yield f"{who}, to open {request.name!r} once: {counts(request.entries)}"
    for name, words in _what(request):
        yield _line(name, words)
    yield _line("where", f"on this computer, until {request.expires}; it goes into the log")


def asked_words(request: GrantRequest, state: VaultState) -> str:
    """Return who requests which texts."""
    return f"{_asker(request, state)} asks to open {request.name!r} once: {counts(request.entries)}"


def request_facts(request: GrantRequest, *, compared: bool = True) -> Iterator[tuple[str, str]]:
    """Yield what a request asks for: label and words; ``compared`` as in ``request_lines``."""
    yield from _what(request)
    where = (
        f"whose six words are: {key_phrase(request.machine)}"
        if compared
        else f"with the key {request.machine[:16]}"
    )
    yield "where", f"on the computer {where}"
    yield "when", f"asked {request.asked}, to be used once, until {request.expires}"
    if compared:
        yield "its words", phrase(request_id(request))


def _line(name: str, words: str) -> str:
    return f"  {name:<12}{words}"


def _asker(request: GrantRequest, state: VaultState) -> str:
    if request.by in state.keepers:
        return state.keepers[request.by].name
    if state.split is not None and request.by == state.split.signing_key:
        return "that many keepers together"
    return "somebody who is no keeper any more"


def _what(request: GrantRequest) -> Iterator[tuple[str, str]]:
    yield "version", f"{request.texts[:16]} of its texts"
    yield "what for", request.purpose
    yield "then", _then(request.run)
    for key in () if request.run is None else request.run.laptops:
        yield "for", f"the laptop whose six words are: {key_phrase(key)}"


def _then(run: RunTerms | None) -> str:
    if run is None:
        return "the texts are checked and forgotten"
    if run.run:
        return f"{_AGAIN.get(run.method, run.method)} the run {run.run}, with Rosetta {run.scorer}"
    if run.method == VaultWork.SCRIPT:
        return f"a script or notebook has them, and runs what it likes; Rosetta {run.scorer}"
    return f"a run of the method {run.method} ({run.options[:16]}), scored by Rosetta {run.scorer}"


_AGAIN: Final[Mapping[str, str]] = {
    VaultWork.RESUME: "going on with",
    VaultWork.RETRY: "asking again for failed entries of",
    VaultWork.RESCORE: "scoring again",
    VaultWork.CALIBRATE: "comparing with people's ratings",
    VaultWork.SEAL: "signing or releasing the card of",
    VaultWork.COMPARE: "telling how others differ from",
    VaultWork.LOOK: "reading on the screen",
    VaultWork.REVIEW: "handing to speakers, sealed for their laptops, sentences of",
    VaultWork.ADJUDICATE: "deciding on what speakers flagged, or differ about, in",
}
