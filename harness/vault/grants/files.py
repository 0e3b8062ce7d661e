"""The two files of a grant: the request that goes to the keepers, and each keeper's answer that comes back.

Both are one signed record in canonical JSON, so any other byte is found. An answer carries the keeper's share, sealed
twice: for the throw-away key of the request and for the computer that asked. Neither of the two keys opens it alone.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from corpora.model.entry import Segment
from corpora.text.messages import dollars, to_minute
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import private_folder, write_file
from harness.sealed.archive import read_record, signed_record
from harness.sealed.keys import Identity, key_phrase
from harness.sealed.phrase import phrase
from harness.sealed.sealing import AgeIdentity, SealError, seal, unseal
from harness.sealed.strict_records import FileError, FileProblem, StrictRecord
from harness.vault.folder import VaultState
from harness.vault.grant_log import Grant, request_id, splitting
from harness.vault.log import VaultError
from harness.vault.request import VaultWork
from harness.vault.secret_text import SecretText
from harness.vault.vault_records import Base64, GrantAnswer, GrantRequest, RunTerms, SignedAnswer, SignedRequest

ANSWER_SUFFIX: Final = ".rosetta-answer"

MOST_BYTES: Final = 2**14
"""Of either file."""


class AnswerFile(StrictRecord):
    """What an answer's file holds: the answer, and the sealed share that the log does not have."""

    answer: SignedAnswer
    sealed: Base64 | Literal[""]
    """The keeper's share; empty where the request is refused, and where each keeper opens alone."""


def write_request(request: GrantRequest, identity: Identity) -> bytes:
    """Return the bytes of a request, to be kept as ``NAME.rosetta-request``."""
    return signed_record(request, identity)


def read_request(data: bytes) -> SignedRequest:
    """Read a request and check its signature; whether a keeper made it, the log tells. Raises FileError in words."""
    request = read_record(data, SignedRequest, "a request to open a vault", most=MOST_BYTES)
    whole = canonical_bytes(request.model_dump(mode="json")) == data
    if not whole or not request.is_signed_by(request.by):
        raise _changed("request")
    return request


def write_answer(answer: GrantAnswer, sealed: bytes, identity: Identity) -> bytes:
    """Return the bytes of an answer with its sealed share, to be kept as ``NAME.rosetta-answer``."""
    signed = SignedAnswer.model_validate_json(signed_record(answer, identity))
    return _answer_bytes(signed, sealed)


def read_answer(data: bytes) -> tuple[SignedAnswer, bytes]:
    """Read an answer and its sealed share, and check the signature that covers both; raises FileError in words."""
    try:
        file = AnswerFile.model_validate_json(data[: MOST_BYTES + 1], strict=True)
        sealed = base64.b64decode(file.sealed)
    except (ValidationError, binascii.Error):
        raise FileError(
            FileProblem.NOT_OURS, "This is not an answer to a request, or it is damaged. Ask for the file once more."
        ) from None
    answer = file.answer
    share = hashlib.sha256(sealed).hexdigest() if sealed else ""
    whole = _answer_bytes(answer, sealed) == data and answer.share == share
    if not whole or not answer.is_signed_by(answer.keeper) or (sealed and not answer.allowed):
        raise _changed("answer")
    return answer, sealed


def _answer_bytes(answer: SignedAnswer, sealed: bytes) -> bytes:
    file = AnswerFile(answer=answer, sealed=base64.b64encode(sealed).decode())
    return canonical_bytes(file.model_dump(mode="json"))


def seal_share(words: SecretText, request: GrantRequest) -> bytes:
    """Seal the words of a share for one request: only the computer that asked opens it, and only while it has the key."""
    inner = seal(words.reveal().encode(), [request.machine_recipient])
    return seal(inner, [request.challenge])


def open_share(sealed: bytes, key: AgeIdentity, machine: Identity) -> SecretText:
    """Open what ``seal_share`` gave; raises SealError where it was sealed for another request or computer."""
    return SecretText(unseal(unseal(sealed, [key]), [machine.age]).decode())


def _changed(what: str) -> VaultError:
    return VaultError(
        FileProblem.DAMAGED,
        f"This {what} was changed after it was written: its signature does not fit. Ask for the file once more.",
    )


# ---- What the computer that asked keeps of its requests: the throw-away key of each, and the
# sealed shares that came in.
#
# The key is in one file, ``NUMBER.key``. It is used up in place: before the log has the opening,
# its bytes are written over with when that was, and they stay so. Whatever is no key any more is
# used up, a write that was stopped half way too.

LOCK: Final = "use.lock"
_USED = "used up "


@dataclass(frozen=True)
class KeptGrants:
    """The folder in which one computer keeps them, of its owner alone."""

    folder: Path

    @property
    def lock(self) -> Path:
        """A file to lock while a grant is used: a vault may lie here twice, and each has its own lock."""
        return private_folder(self.folder) / LOCK

    def keep_key(self, grant: str, key: AgeIdentity) -> None:
        self._write(self._key(grant), key.secret.encode())

    def key(self, grant: str) -> AgeIdentity:
        """Return the key of a request; VaultError where it is used up, or not here."""
        try:
            text = self._key(grant).read_text("utf-8")
        except FileNotFoundError:
            raise VaultError(
                FileProblem.LOCKED,
                "The key of this request is not on this computer: it was asked for with another data folder, or the key was "
                "deleted. Nothing can be opened with this grant. The same command asks for a new one.",
            ) from None
        except (OSError, UnicodeDecodeError):
            text = ""
        with suppress(SealError):
            return AgeIdentity.read(text)
        when = text.removeprefix(_USED).strip("\0 ") if text.startswith(_USED) else ""
        raise VaultError(
            FileProblem.LOCKED,
            f"This grant was used up on this computer{f' at {when}' if when else ''}, though this copy of the vault does not "
            "have the opening: the program was stopped in that moment, or this is not the copy that was opened. A grant opens "
            "once, whatever happened then. The same command asks for a new one.",
        )

    def use_up(self, grant: str, when: str) -> None:
        """Write over the key of a request, on the disk before this returns; what an earlier block of the disk has, nobody knows."""
        path = self._key(grant)
        length = path.stat().st_size
        self._overwrite(path, f"{_USED}{when}".encode().ljust(length, b"\0")[:length])

    def put_back(self, grant: str, key: AgeIdentity) -> None:
        """Undo ``use_up`` where the log could not be written, so that nothing was opened."""
        self._overwrite(self._key(grant), key.secret.encode())

    def keep_share(self, grant: str, keeper: str, sealed: bytes) -> None:
        self._write(self._share(grant, keeper), sealed)

    def share(self, grant: str, keeper: str) -> bytes | None:
        """Return a keeper's sealed share; None where it was not imported on this computer."""
        try:
            return self._share(grant, keeper).read_bytes()
        except OSError:
            return None

    def keep_place(self, grant: str, file: Path) -> None:
        """Remember where the file of a request was written, so that the same command finds it from any other folder."""
        self._write(self._place(grant), os.fsencode(file.absolute()))

    def place(self, grant: str) -> Path | None:
        """Return where the file of a request was written; None where that is not known."""
        try:
            return Path(os.fsdecode(self._place(grant).read_bytes()))
        except OSError:
            return None

    def forget_shares(self, grant: str) -> None:
        """Delete what came in for a request that is used up or over, and where its file was written."""
        for path in (*self.folder.glob(f"{grant}-*.share"), self._place(grant)):
            with suppress(OSError):
                path.unlink()

    def keep_sweep(self, grant: str, sealed: bytes) -> None:
        self._write(self._sweep(grant), sealed)

    def sweep(self, grant: str) -> bytes | None:
        """Return what continues a sweep, sealed for this computer; None where it is over, or was begun elsewhere."""
        try:
            return self._sweep(grant).read_bytes()
        except OSError:
            return None

    def forget_key(self, grant: str) -> None:
        """Delete the keys of a request that is over, or never got into the log; their bytes are written over first."""
        for path in (self._key(grant), self._sweep(grant)):
            with suppress(OSError):
                self._overwrite(path, bytes(path.stat().st_size))
                path.unlink()

    def _place(self, grant: str) -> Path:
        return self.folder / f"{grant}.place"

    def _key(self, grant: str) -> Path:
        return self.folder / f"{grant}.key"

    def _sweep(self, grant: str) -> Path:
        return self.folder / f"{grant}.sweep"

    def _share(self, grant: str, keeper: str) -> Path:
        return self.folder / f"{grant}-{keeper}.share"

    def _write(self, path: Path, data: bytes) -> None:
        try:
            private_folder(self.folder)
            write_file(path, data, overwrite=True)
        except (OSError, UsageError) as error:
            raise VaultError(
                FileProblem.INVALID,
                f"This computer cannot keep what belongs to the request ({error}). Make room, or name another folder in "
                "ROSETTA_HOME.",
            ) from None

    @staticmethod
    def _overwrite(path: Path, data: bytes) -> None:
        with path.open("r+b") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


# ---- What a request asks for, how it stands, and why a grant cannot be used, in words that name
# what is to be done.

_ANEW = "Ask for a new one: type the command again."


def refuse_unusable(state: VaultState, grant: Grant, run: RunTerms | None, now: str) -> None:
    """Raise VaultError where a grant does not open what is about to be done; nothing is used up."""
    refuse_over(state, grant, now, again=grant.of_sweep)
    refuse_other_run(grant.request.run, run)
    if len(grant.allowed_by(state.keepers)) < state.threshold:
        raise VaultError(FileProblem.LOCKED, f"Too few keepers allow it. {standing(state, grant)}")


def refuse_over(state: VaultState, grant: Grant, now: str, *, again: bool = False) -> None:
    """Raise VaultError where nobody can use a grant any more, whatever the keepers say; ``again``: a sweep may continue."""
    request = grant.request
    if grant.used and not again:
        raise VaultError(
            FileProblem.LOCKED, f"This grant was used up at {to_minute(grant.used)} UTC: it opens once. {_ANEW}"
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
            f"it is {to_minute(now)} now"
            if now > request.expires
            else f"the log of the vault has a line of {to_minute(grant.latest)}, whatever the clock shows now"
        )
        raise VaultError(
            FileProblem.LOCKED, f"This grant could be used until {to_minute(request.expires)} UTC, and {after}. {_ANEW}"
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
        use = f"It was granted for Rosetta {granted.scorer}, and this is {run.scorer}, which may score differently"
    else:
        use = (
            "It was granted for this method with other options, files, metrics or entries, or for other code of it. Give the same "
            "ones as in the request"
        )
    raise VaultError(FileProblem.INVALID, f"{use}. Nothing was used up. {_ANEW}")


def run_words(run: RunTerms) -> str:
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
    sentences += [f"Refused by {keepers[key].name}: {grant.answers[key].reason}." for key in refused]
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
    return ", ".join(f"{count:,} {segment}" for segment, count in sorted(entries.items()) if count)


def request_lines(request: GrantRequest, state: VaultState, *, compared: bool = True) -> Iterator[str]:
    """Return what a request asks for, line by line, with the six words that people compare, which are slow to make."""
    yield asked_words(request, state)
    for name, words in request_facts(request, compared=compared):
        yield _line(name, words)


def asked_lines(request: GrantRequest, state: VaultState, file: Path) -> Iterator[str]:
    """Return what the keepers are asked for, and what each of them does; the asking keeper has allowed it."""
    yield from request_lines(request, state)
    allowed = state.grants[request_id(request)].allowed_by(state.keepers)
    others = counted_names(state, [key for key in state.keepers if key not in allowed])
    yield f"Written: {file}. {state.threshold} keepers must allow it: {counted_names(state, allowed)}, and {state.threshold - len(allowed)} more of {others}."
    yield f"Take it to them on a stick. Each reads you its six words by telephone, which must be {phrase(request_id(request))!r}, and types with a copy of the vault:"
    yield f"  rosetta vault grant answer VAULT {file.name}"
    yield f"The answers come back next to {file.name}. Ctrl-C keeps the request: the same command continues with it."


def at_once_lines(request: GrantRequest, state: VaultState) -> Iterator[str]:
    """Return what a keeper allows with their own keys, at once."""
    who = "You allow, as a keeper" if state.split is None else "The keepers who are here allow"
    yield f"{who}, to open {request.name!r} once: {counts(request.entries)}"
    for name, words in _what(request):
        yield _line(name, words)
    yield _line("where", f"on this computer, until {to_minute(request.expires)} UTC; it goes into the log")


def asked_words(request: GrantRequest, state: VaultState) -> str:
    return f"{_asker(request, state)} asks to open {request.name!r} once: {counts(request.entries)}"


def request_facts(request: GrantRequest, *, compared: bool = True) -> Iterator[tuple[str, str]]:
    """Yield what a request asks for: label and words; ``compared`` as in ``request_lines``."""
    yield from _what(request)
    where = f"with the key {request.machine[:16]}"
    if compared and request.run is not None and request.run.setups:
        yield "where cut", f"the same command continues by this grant. For that the computer keeps the key of these texts until the last run is complete; after {to_minute(request.expires)} UTC this program does not use it"  # fmt: skip
    if compared:
        where = f"whose six words are: {key_phrase(request.machine)}"
    yield "where", f"on the computer {where}"
    yield "when", f"asked {to_minute(request.asked)}, to be used once, until {to_minute(request.expires)} UTC"
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
    if request.run is not None:
        yield from (("for", f"the laptop whose six words are: {key_phrase(key)}") for key in request.run.laptops)
        yield from (("set-up", f"{setup.name} ({setup.options[:16]})") for setup in request.run.setups)
    if looks := 0 if request.run is None else len(request.run.setups):
        yield "tells", f"these are {looks} looks at the texts. No scores leave but as one answer of the budget: those of one run, and which set-up is clearly the best, if one is ({looks.bit_length()} bits at most)"  # fmt: skip


def _then(run: RunTerms | None) -> str:
    if run is None:
        return "the texts are checked and forgotten"
    if run.run:
        return f"{_AGAIN.get(run.method, run.method)} the run {run.run}, with Rosetta {run.scorer}"
    if run.setups:
        many = "" if run.replicates == 1 else f", {run.replicates} times each"
        money = "" if run.budget_usd is None else f", for {dollars(run.budget_usd)} at most"
        return f"a sweep of exactly these {len(run.setups)} set-ups{many}{money}, scored by Rosetta {run.scorer}"
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
