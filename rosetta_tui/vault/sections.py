"""What a vault holds, and its log: who did what with it, and what for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from corpora.model.entry import Segment
from corpora.text.messages import counted, pause_words, to_minute
from harness.release.budget import Policy
from harness.vault.folder import VaultState
from harness.vault.grant_log import Grant
from harness.vault.grants.files import counts, refuse_over
from harness.vault.log import LogLine, VaultError, withdrawals_of, withdrawn_words
from harness.vault.vault_records import Added, Dealt, Enrolled, Founded, Keeper, Opened, OpenedByGrant, Revoked, Used
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.show.released_words import BudgetUse, policy_words, uses
from rosetta_tui.toolkit.content import Commands, Line, SectionPage
from rosetta_tui.vault.facts import ToldScores, VaultFacts
from rosetta_tui.vault.messages import LoggedAct, losing, standing_lines, telling, told_outside
from scoring.core.inventory import short_title

_HOLDS = (
    Column("corpus", "corpus", 12, share=2),
    Column("entries", "entries", 7, right=True),
    *(Column(str(segment), str(segment), len(segment), right=True, drop=1 + segment.secret) for segment in Segment),
    Column("opened", "last opened", 16, drop=4),
)


def contents(facts: VaultFacts, folder: str) -> SectionPage:
    """Return what a vault holds: its corpora, how many entries they have, when they were opened."""
    state = facts.state
    made = facts.log[0]
    about_lines: list[Line] = [
        ("✓ Whole and unchanged: every file and every signature was checked, and no text was opened for it.", "good"),
        (f"Made {to_minute(made.when)} by {made.by} · number {state.head.vault[:16]} · {folder}", "quiet"),
        *((line, "bad") for line in facts.older_copy),
    ]  # fmt: skip
    if state.left_over:
        about_lines.append(("A change was stopped before its end. Nothing is lost; the next one clears what is left of it.", "warn"))  # fmt: skip
    rows, about, commands = [], [], []
    for number, corpus in state.head.corpora.items():
        opened = [
            act
            for act, line in zip(facts.log, state.lines, strict=True)
            if isinstance(line.record.act, Opened | Used | OpenedByGrant) and line.record.act.corpus == number
        ]
        last = opened[-1] if opened else None
        rows.append(
            (
                Cell(corpus.name),
                Cell(f"{sum(corpus.entries.values()):,}"),
                *(Cell(f"{corpus.entries.get(segment, 0):,}") for segment in Segment),
                Cell(to_minute(last.when) if last else "never", "plain" if last else "quiet"),
            )
        )
        about.append(list(_about_corpus(facts, number, opened)))
        commands.append(_content_commands(state, folder, corpus.name))
    return SectionPage(
        about_lines, _HOLDS, rows, about, commands or [_content_commands(state, folder, "")],
        "Nothing is in it yet. What to do (c) has the command that seals a corpus and puts it in.",
    )  # fmt: skip


def _about_corpus(facts: VaultFacts, number: str, opened: Sequence[LoggedAct]) -> Iterator[Line]:
    stored_corpus = facts.state.head.corpora[number]
    yield f"{stored_corpus.name}: {counts(stored_corpus.entries)}", "plain"
    acts = zip(facts.log, facts.state.lines, strict=True)
    put = next(logged_act for logged_act, line in acts if isinstance(line.record.act, Added) and line.record.act.corpus == number)  # fmt: skip
    times = f"opened {counted(len(opened), 'time')}" if opened else "never opened"
    last = f", the last time by {opened[-1].by}: {opened[-1].purpose}" if opened else ""
    yield f"put in {to_minute(put.when)} by {put.by} · {times}{last}", "quiet"
    if (line := withdrawals_of(facts.state.lines).get(number)) is not None:
        yield withdrawn_words(facts.state.lines, line), "bad"
    yield from ((f"{line}.", "plain") for line in (*telling(stored_corpus), *told_outside(stored_corpus)))
    if stored_corpus.entries.get(Segment.HELD_OUT):
        yield "Entries of held_out are kept for later and never opened, until they are moved by name.", "quiet"


def _content_commands(state: VaultState, folder: str, corpus: str) -> Commands:
    vault = ("rosetta", "vault")
    commands: dict[str, Sequence[str]] = {"Seal one more corpus": (*vault, "add", folder, "FILE")}
    if corpus:
        who = "try the keys" if state.split is None else "ask the keepers and try"
        commands[f"Open {corpus} in memory once, to {who}"] = (*vault, "open", folder, corpus, "--purpose", "WORDS")
        commands["Move entries that were kept for later into use"] = (*vault, "check-up", folder, corpus, "--do", "rotate", "--count", "NUMBER", "--purpose", "WORDS")  # fmt: skip
    commands["Make a sealed copy, on a stick for example"] = (*vault, "export", folder, "FOLDER", "--purpose", "WORDS")
    return commands


_LOG = (
    Column("when", "when (UTC)", 16),
    Column("by", "who", 8, share=1),
    Column("words", "what", 24, share=4),
    Column("purpose", "what for", 12, share=2, drop=1),
)


def log(facts: VaultFacts, folder: str) -> SectionPage:
    """Return the log of a vault, the newest line first."""
    newest = list(reversed(facts.log))
    about_lines = [
        (f"{counted(len(newest), 'line')}, the newest first. Each is signed and names the one before it; all of them fit together.", "plain")
    ]  # fmt: skip
    rows = [
        (
            Cell(to_minute(logged_act.when)),
            Cell(logged_act.by),
            Cell(logged_act.words, "warn" if logged_act.clock_set_back else "plain"),
            Cell(logged_act.purpose or "", "quiet"),
        )
        for logged_act in newest
    ]
    about = []
    for act in newest:
        lines: list[Line] = [(f"{to_minute(act.when)}  {act.by}: {act.words}", "plain")]
        if act.purpose:
            lines.append((f"what for: {act.purpose}", "plain"))
        if act.clock_set_back:
            lines.append(("The clock of an earlier line was wrong; anyone who wrote this line said so.", "warn"))
        about.append([*lines, (f"line {act.id[:16]}", "quiet")])
    commands: Commands = {"Show the log in a shell, the oldest line first": ("rosetta", "vault", "log", folder)}
    return SectionPage(about_lines, _LOG, rows, about, [commands] * len(rows))


# ---- Who opens a vault, alone or together with others ----

_KEEPERS = (
    Column("keeper", "keeper", 12, share=1),
    Column("kind", "what it is", 12, drop=4),
    Column("since", "since (UTC)", 16, drop=3),
    Column("phrase", "six words of their keys", 40, share=2),
)


def keepers(facts: VaultFacts, folder: str) -> SectionPage:
    """Return who opens a vault, alone or together, and what it means to lose a key."""
    state = facts.state
    people = list(state.keepers.values())
    count = len(people)
    if state.split is None:
        opens = f"Each of these {count} opens it alone."
        lost = f"If all {count} keys are lost, nobody can ever open the texts again."
    else:
        opens = f"Any {state.threshold} of these {count} open it together, and nobody alone."
        lost = losing(count, state.threshold)
    about_lines = [(opens, "plain"), (lost, "warn"), *((line, "bad") for line in facts.older_copy)]
    rows, about = [], []
    for person in people:
        gone = facts.taken_out.get(person.signing_key)
        kind = "recovery key" if person.recovery else "keeper"
        phrase = facts.phrases.get(person.signing_key, "")
        rows.append(
            (
                Cell(person.name),
                Cell("taken out" if gone else kind, "bad" if gone else "plain"),
                Cell(to_minute(_since(state.lines, person.signing_key)), "quiet"),
                Cell(phrase),
            )
        )
        about.append(list(_about_keeper(facts, person, phrase)))
    commands = [_keeper_commands(state, folder, person) for person in people]
    return SectionPage(about_lines, _KEEPERS, rows, about, commands, waiting=len(facts.taken_out))


def _since(lines: Sequence[LogLine], key: str) -> str:
    """Return when somebody became a keeper, the last time where they came again."""
    when, before = "", False
    for line in lines:
        match line.record.act:
            case Founded(keepers=people) | Dealt(keepers=people):
                here = key in {person.signing_key for person in people}
            case Enrolled(keeper=one):
                here = before or one.signing_key == key
            case Revoked(keeper=gone):
                here = before and gone != key
            case _:
                continue
        if here and not before:
            when = line.record.when
        before = here
    return when


def _about_keeper(facts: VaultFacts, keeper: Keeper, phrase: str) -> Iterator[Line]:
    wrote = [logged_act for logged_act, line in zip(facts.log, facts.state.lines, strict=True) if line.record.by == keeper.signing_key]  # fmt: skip
    last = f", the last at {to_minute(wrote[-1].when)}" if wrote else ""
    yield f"{keeper.name} signed {counted(len(wrote), 'line')} of the log{last}.", "plain"
    if keeper.recovery:
        yield "The recovery key is on no computer: it is a file that you lock away, apart from the computers and from this folder.", "quiet"  # fmt: skip
    yield f"Their six words: {phrase}. By telephone they read them to you from their own computer; other words mean other keys.", "quiet"  # fmt: skip


def _keeper_commands(state: VaultState, folder: str, keeper: Keeper) -> Commands:
    vault = ("rosetta", "vault")
    commands: dict[str, Sequence[str]] = {
        "Let one more person be a keeper": (*vault, "enrol", folder, "NAME.rosetta-keeper", "--purpose", "WORDS"),
        f"Take {keeper.name} out": (*vault, "revoke", folder, keeper.name, "--purpose", "WORDS"),
    }  # fmt: skip
    if state.split is not None:
        commands["Print my share of the key"] = (*vault, "share", folder, "--print", "FILE.html")
        commands["Try whether my share is right"] = (*vault, "share", folder)
        commands["Make new shares, when one is lost"] = (*vault, "check-up", folder, "--do", "shares", "--with", "FILE", "--purpose", "WORDS")  # fmt: skip
    return commands


# ---- Who asked to open a vault once, and what the keepers said ----

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
    ask = {"Ask the keepers for one run over a corpus": ("rosetta", "run", "CORPUS", "--method", "METHOD", "--vault", folder, "--purpose", "WORDS")}  # fmt: skip
    answer: Commands = {
        "Look at a request that came on a stick": (*vault, "show", folder, "NAME.rosetta-request"),
        "Allow it, as a keeper": (*vault, "answer", folder, "NAME.rosetta-request"),
        "Refuse it, as a keeper": (*vault, "answer", folder, "NAME.rosetta-request", "--refuse", "WHY"),
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
                Cell(to_minute(grant.request.asked)),
                Cell(by.name if by else "no keeper now"),
                Cell(grant.request.name),
                Cell(grant.request.purpose),
                Cell(words, tone),
                Cell(to_minute(grant.request.expires), "quiet"),
            )
        )
        about.append(list(_about_grant(grant, facts, now)))
        answerable.append("" if _over(grant, state, now) else grant.id)
    empty = "Nobody has asked to open it yet. What to do (c) has the command that asks."
    if state.split is None:
        empty = f"{empty} Each keeper opens this vault alone; a run that a keeper begins is allowed at once, and stands here then."
    return SectionPage(about_lines, _REQUESTS, rows, about, [answer] * len(rows) or [ask], empty, waiting, answerable)


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
        yield line, "quiet"


# ---- How many answers about secret entries anyone who hands in a method had, and how many are
# left.

_BUDGETS = (
    Column("submitter", "who learns scores", 12, share=2),
    Column("corpus", "about", 10, share=1),
    Column("told", "told", 11, right=True),
    Column("left", "left", 6, right=True),
    Column("next", "next answer (UTC)", 17),
    Column("best", "best told", 14, drop=3),
)


def budgets(told: ToldScores, now: datetime) -> SectionPage:
    """Return how many answers about secret entries each submitter had from this computer, and how many are left."""
    budget = ("rosetta", "vault", "budget")
    if told.history is None:
        return SectionPage([(told.trouble, "bad")], _BUDGETS, [], [], [{}])
    general = told.history.policy("", "")
    about_lines = [
        (f"Each answer tells a little of the hidden entries, so anyone who hands in a method gets {_budget_words(general, 'each corpus')}.", "plain"),
        (policy_words(general), "quiet"),
        ("These are the answers of this computer, about whatever vault.", "quiet"),
    ]  # fmt: skip
    rows, about, commands = [], [], []
    everybody: Commands = {
        "Change how many answers each submitter gets": (*budget, "--count", "NUMBER"),
        "Change the pause between two answers": (*budget, "--pause", "HOURS"),
        "Tell more or less": (*budget, "--policy", "POLICY"),
        "Say that two names are one submitter": (*budget, "--together", "NAME", "NAME"),
    }
    for use in uses(told.history, told.withdrawn):
        left = max(0, use.policy.count - use.answers)
        next_words, tone = next_answer(use, now)
        best = use.best.card if use.best else None
        rows.append(
            (
                Cell(" = ".join(use.names)),
                Cell(use.corpus),
                Cell(f"{use.answers:,} of {use.policy.count:,}"),
                Cell(f"{left:,}", "plain" if left else "bad"),
                Cell(next_words, tone),
                Cell(f"{short_title(best.headline)} {best.scores[best.headline].value:g}" if best else "withdrawn" if use.withdrawn else ""),
            )
        )  # fmt: skip
        about.append(list(_about_use(use)))
        own = {f"Change how many answers {use.names[0]} gets about {use.corpus}": (*budget, "--submitter", use.names[0], "--corpus", use.corpus, "--count", "NUMBER")}  # fmt: skip
        commands.append({**own, **everybody})
    empty = "Nobody has been told a score over secret entries yet."
    return SectionPage(about_lines, _BUDGETS, rows, about, commands or [everybody], empty)


def _budget_words(policy: Policy, corpus: str) -> str:
    pause = f", {pause_words(policy.pause_hours)} apart" if policy.pause_hours else ""
    return f"{counted(policy.count, 'answer')} about {corpus}{pause}"


def next_answer(use: BudgetUse, now: datetime) -> Line:
    """Return when the next answer may be given."""
    if use.answers >= use.policy.count:
        return "none left", "bad"
    free = datetime.fromisoformat(use.last) + timedelta(hours=use.policy.pause_hours)
    return ("now", "good") if now >= free else (f"{free:%Y-%m-%d %H:%M}", "warn")


def _about_use(use: BudgetUse) -> Iterator[Line]:
    yield f"{' = '.join(use.names)} gets {_budget_words(use.policy, use.corpus)}; the last one was given at {to_minute(use.last)}.", "plain"  # fmt: skip
    if use.withdrawn:
        yield "Consent to the last released scores is withdrawn: no claim may rest on them.", "warn"
    if use.best is not None:
        card = use.best.card
        if card.smallest_difference is not None:
            yield f"Two methods that differ by less than {card.smallest_difference:g} points of chrF++ cannot be told apart on these entries.", "quiet"  # fmt: skip
        if not use.policy.climbs:
            yield f"A new score is released if it beats the best one by more than {card.beat_by:.3g} of {short_title(card.headline)}. Until then the best is released again.", "quiet"  # fmt: skip
    if use.bits:
        yield f"All answers together tell {counted(use.bits, 'bit')} about the entries at most.", "quiet"
