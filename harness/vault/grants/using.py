"""A grant that is about to be used for a piece of work: what it was given for is compared before anything is used up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from corpora.model.entry import Segment
from corpora.text.messages import to_minute
from harness.core.failures import HarnessError, UsageError
from harness.core.storage import PUBLISHED, file_stamp
from harness.sealed import stick
from harness.sealed.keys import Identity
from harness.sealed.sealing import AgeIdentity
from harness.sealed.strict_records import FileProblem
from harness.vault.data_key import DataKey
from harness.vault.folder import LOG, VaultState
from harness.vault.grant_log import Grant, answer_id, request_id
from harness.vault.grants.files import (
    ANSWER_SUFFIX,
    MOST_BYTES,
    asked_lines,
    at_once_lines,
    read_answer,
    read_request,
    refuse_over,
    standing,
    write_request,
)
from harness.vault.grants.grants import OPEN_DAYS, Grants, proved, wanted_entries
from harness.vault.key_shares import OpeningKey
from harness.vault.log import STEP, VaultError, moment
from harness.vault.request import REQUEST_SUFFIX
from harness.vault.sealed_corpus import SealedCorpus, corpus_named
from harness.vault.vault import words_of_log
from harness.vault.vault_records import GrantRequest, RunTerms, Used


@dataclass
class AwaitedGrant:
    """The grant of keepers who are elsewhere, for one piece of work: found in the log or asked for, awaited, and used up.

    The request is a file, and the keepers' answers are files next to it. What the log has of them decides.
    """

    grants: Grants
    run: RunTerms | None
    """What is about to be done with the texts; None: they are opened to see whether they are whole."""
    file: Path
    """Where the request is written; where this name is taken, another one next to it."""
    tell: Callable[[Sequence[str]], None]
    """Shows, line by line, what is asked for and who answered."""
    wait: Callable[[Path], None]
    """Is called with the file of the request while answers are missing; returns when they are to be looked for again."""
    together: OpeningKey | None = None
    """What the keepers who allowed it have together; None until it is used up."""
    sweep: tuple[str, AgeIdentity] | None = None
    """Number of the grant of a sweep, and what the store's texts of it are sealed for as well; None until it is used up."""

    def opening(
        self,
        name: str,
        identity: Identity,
        segments: Sequence[Segment],
        purpose: str,
        run_id: str = "",
        despite_network: str = "",
    ) -> tuple[VaultState, SealedCorpus, DataKey]:
        """Use it up once enough keepers allow it; returns what ``Vault.opening`` returns, and raises as ``allowed``."""
        number = self.allowed(name, identity, segments, purpose)
        opened = self.grants.opening(number, identity, self.run, run_id, despite_network)
        self.together = opened.together
        self.sweep = None if opened.sweep is None else (number, opened.sweep)
        return opened.state, opened.sealed, opened.key

    def allowed(self, name: str, identity: Identity, segments: Sequence[Segment], purpose: str) -> str:
        """Return the number of a request that enough keepers allow for exactly this, used up where a sweep continues by it; else ask and wait.

        ``name``: of a corpus, or its number. ``segments``: those that are needed; none: all but ``held_out``. The asking keeper
        allows it, too. Raises VaultError where it cannot be asked for or too many refuse it, and what ``wait`` raises.
        """
        if not self.file.parent.is_dir():
            raise UsageError(f"There is no folder {self.file.parent}. Put the stick back, or name another one.")
        vault = self.grants.vault
        number = self._known(name, identity, segments, purpose)
        if number is None:
            number = request_id(read_request(self.grants.ask(name, purpose, OPEN_DAYS, identity, segments, self.run)))
        grant = (state := vault.read()).grants[number]
        if grant.used:
            self.tell([f"The sweep continues by the grant that was used at {to_minute(grant.used)} UTC."])
            return number
        request = grant.request
        if identity.public.signing_key not in grant.answers:
            self.grants.take(self.grants.answer_asked(request, state, identity, allowed=True), identity)
        file, seen, stamp = self._written(request, identity), dict[Path, object](), None
        lines: Sequence[str] = [*asked_lines(request, vault.read(), file)]
        while True:
            news = [*self._taken(number, file, identity, seen)]
            if news or stamp != file_stamp(vault.folder / LOG):  # a keeper may answer on this computer, too
                state = vault.read()
                grant, stamp = state.grants[number], file_stamp(vault.folder / LOG)
                if len(grant.allowed_by(state.keepers)) >= state.threshold:
                    self.tell(news)
                    return number
                if not _may_still_be(state, grant):
                    raise VaultError(FileProblem.LOCKED, f"{standing(state, grant)} Nothing was opened. The same command asks again.")  # fmt: skip
                self.tell([*lines, *news] if lines else [*news, standing(state, grant)])
                lines = ()
            self.wait(file)

    def _known(self, name: str, identity: Identity, segments: Sequence[Segment], purpose: str) -> str | None:
        """Return the number of the newest request that these keys made here for exactly this, and that can be used still or continues."""
        state = self.grants.vault.read()
        number, stored = corpus_named(state, name)
        me = identity.public.signing_key, self.grants.machine.public.signing_key
        wanted = (*me, number, wanted_entries(stored, segments), self.run, words_of_log(purpose, "The purpose"))
        for grant in reversed(list(state.grants.values())):
            asked = grant.request
            same = (asked.by, asked.machine, asked.corpus, dict(asked.entries), asked.run, asked.purpose) == wanted
            kept = self.grants.kept
            if same and (kept.sweep(grant.id) if grant.used else _may_still_be(state, grant)):
                with suppress(VaultError):  # over, or its key was used up by a program that was stopped then
                    refuse_over(state, grant, moment(self.grants.vault.clock()), again=grant.of_sweep)
                    if not grant.used:
                        kept.key(grant.id)
                    return grant.id
        return None

    def _written(self, request: GrantRequest, identity: Identity) -> Path:
        """Return the file of a request, which is written where no file of the folder has it."""
        content, number = write_request(request, identity), 2
        first = self.grants.kept.place(request_id(request))
        for path in [*stick.files_named(self.file.parent, REQUEST_SUFFIX), *([first] if first else [])]:
            with suppress(stick.StickError):
                if stick.read_file(path, MOST_BYTES) == content:
                    return path
        path = self.file
        while path.exists():
            path, number = self.file.with_stem(f"{self.file.stem}-{number}"), number + 1
        stick.write_file(path, content, PUBLISHED)
        if first is None:
            self.grants.kept.keep_place(request_id(request), path)
        return path

    def _taken(self, number: str, file: Path, identity: Identity, seen: dict[Path, object]) -> Iterator[str]:
        """Import the answers next to a request that are new or were written again; yield what each says, or why it does not count."""
        places = file, self.file, self.grants.kept.place(number)
        folders = dict.fromkeys(path.parent.absolute() for path in places if path)
        for path in (path for folder in folders for path in stick.files_named(folder, ANSWER_SUFFIX)):
            before, stamp = seen.get(path), file_stamp(path)
            if before == stamp:
                continue
            seen[path] = stamp
            try:
                data = stick.read_named(path, MOST_BYTES)
                (answer, _), state = read_answer(data), self.grants.vault.read()
                if answer.request != number:
                    other = state.grants.get(answer.request)
                    done = other and (other.used or other.expired("") or answer.keeper in other.answers)
                    if not done:  # old ones may stay on a stick
                        which = f"another request, {other.request.purpose!r}," if other else "another request,"
                        yield f"{path.name} answers {which} and does not count here."
                    continue
                known = state.grants[number].answers.get(answer.keeper)
                seen[path] = "tried", stamp  # again where it fails: the vault may be busy, or the clock be set right
                self.grants.take(data, identity)
                seen[path] = stamp
            except HarnessError as error:
                if seen[path] != before:
                    yield f"{path.name} does not count: {error}"
                continue
            if known is None or answer_id(known) != answer_id(answer):
                does = "allows it" if answer.allowed else f"refuses it: {answer.reason}"
                yield f"{state.keepers[answer.keeper].name} {does}"


def _may_still_be(state: VaultState, grant: Grant) -> bool:
    """Return whether those who did not refuse a request are enough to allow it."""
    return len(state.keepers) - len(grant.refused_by(state.keepers)) >= state.threshold


@dataclass(frozen=True)
class GrantAtOnce:
    """What the keepers who are here allow themselves: asked for, allowed, written and used up in the line of the opening."""

    grants: Grants
    run: RunTerms
    """What is about to be done with the texts."""
    tell: Callable[[Sequence[str]], None]
    """Shows what is allowed, line by line, before it is."""

    def granted(self, used: Used, state: VaultState, identity: Identity, together: OpeningKey | None) -> Used:
        """Return the line of an opening with its grant; ``together``: what keepers who open together have."""
        lasts = self.grants.vault.clock(), STEP
        request = self.grants.request(
            state, used.corpus, used.entries, identity, used.purpose, self.run, lasts, AgeIdentity.make()
        )  # fmt: skip
        self.tell([*at_once_lines(request, state)])
        return proved(used.model_copy(update={"grant": request}), state, together)
