"""Who asked to open a vault once, and what the keepers said."""

from __future__ import annotations

from collections.abc import Iterator

from harness.vault.folder import VaultState
from harness.vault.grants.messages import refuse_over
from harness.vault.ledger import Grant
from harness.vault.log import VaultError
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.section_page import Commands, Line, SectionPage, moment
from rosetta_tui.vault.facts import VaultFacts
from rosetta_tui.vault.messages import standing_lines

_REQUESTS = (
    Column("asked", "asked (UTC)", 16, drop=1),
    Column("by", "by", 8, share=1),
    Column("corpus", "to open", 10, share=1),
    Column("purpose", "what for", 12, share=3),
    Column("state", "how it stands", 20),
    Column("until", "until (UTC)", 16, drop=2),
)


def requests(facts: VaultFacts, folder: str, now: str) -> SectionPage:
    """Return who asked to open a vault once, and what the keepers said; ``now`` as the log writes it, the newest first."""
    state = facts.state
    grants = list(reversed(list(state.grants.values())))
    vault = ("rosetta", "vault", "grant")
    ask = {"Ask the keepers for one run over a corpus": ("rosetta", "run", "CORPUS", "--method", "METHOD", "--vault", folder, "--purpose", "WORDS", "--ask", "NAME.rosetta-request")}  # fmt: skip
    answer: Commands = {
        "Look at a request that came on a stick": (*vault, "show", folder, "NAME.rosetta-request"),
        "Allow it, as a keeper": (*vault, "allow", folder, "NAME.rosetta-request", "--to", "NAME.rosetta-answer"),
        "Refuse it, as a keeper": (*vault, "refuse", folder, "NAME.rosetta-request", "--to", "NAME.rosetta-answer", "--reason", "WORDS"),
        "Take in the answers that came back": (*vault, "take", folder, "NAME.rosetta-answer"),
        "Open with it, once": ("rosetta", "vault", "open", folder, "--grant", "NAME.rosetta-request"),
        **ask,
    }  # fmt: skip
    allow = f"{state.threshold} keepers allow" if state.split else "a keeper allows"
    about_lines = [
        (f"A request opens the vault once, when {allow} it. Answers go from hand to hand as files; here stand those that were imported.", "plain")
    ]  # fmt: skip
    rows, about, answerable, waiting = [], [], [], 0
    for grant in grants:
        words, tone = grant_state(grant, state, now)
        waiting += tone == "warn"
        by = state.keepers.get(grant.request.by)
        rows.append(
            (
                Cell(moment(grant.request.asked)),
                Cell(by.name if by else "no keeper now"),
                Cell(grant.request.name),
                Cell(grant.request.purpose),
                Cell(words, tone),
                Cell(moment(grant.request.expires), "quiet"),
            )
        )
        about.append(list(_about_grant(grant, facts, now)))
        answerable.append("" if _over(grant, state, now) else grant.id)
    empty = "Nobody has asked to open it yet. What to do (c) has the command that asks."
    if state.split is None:
        empty = f"{empty} Each keeper opens this vault alone; a run that a keeper begins is allowed at once, and stands here then."
    return SectionPage(
        about_lines,
        _REQUESTS,
        rows,
        about,
        [answer] * len(rows) or [ask],
        empty,
        waiting,
        answerable,
    )


def grant_state(grant: Grant, state: VaultState, now: str) -> Line:
    """Return in a few words the state of a request, and in which tone: ``warn`` where keepers are still to answer."""
    if grant.used:
        return "used up", "quiet"
    if grant.expired(now):
        return "too late", "quiet"
    if _over(grant, state, now):
        return "cannot be used now", "quiet"
    allowed, refused = grant.allowed_by(state.keepers), grant.refused_by(state.keepers)
    if len(allowed) >= state.threshold:
        return "allowed, not used", "good"
    if len(state.keepers) - len(refused) < state.threshold:
        return "refused", "bad"
    return f"{len(allowed)} of {state.threshold} allow it", "warn"


def _over(grant: Grant, state: VaultState, now: str) -> str:
    """Return why nobody can use a request any more; empty where it can be used still."""
    try:
        refuse_over(state, grant, now)
    except VaultError as error:
        return str(error)
    return ""


def _about_grant(grant: Grant, facts: VaultFacts, now: str) -> Iterator[Line]:
    first, *more = facts.requests.get(grant.id, ("",))
    yield first, "plain"
    for line in standing_lines(grant, facts.state):
        yield line, "plain"
    if not grant.used and (why := _over(grant, facts.state, now)):
        yield why, "warn"
    for line in more:
        yield line.strip(), "quiet"
