"""What the entry screen says about one entry: labels, texts, and its values by category."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from unicodedata import normalize

from textual.content import Content

from corpora.model.entry import AnyEntry, Entry
from corpora.model.task import TRANSLATION
from corpora.text.messages import counted
from harness.core.failures import HarnessError
from harness.method.method import Attempt, Result
from harness.setup.scoring_tools import stated_setup, stored_scorer
from harness.store.annotations import AnnotationRow, shown_annotations
from harness.store.corpora.entries import read_dataset, read_entries, shown_entries
from harness.store.replies import StoredReply, read_exchange
from harness.store.results import read_attempts, shown_results
from harness.store.runs import Run, read_run
from rosetta_tui.entry import record
from rosetta_tui.entry.explaining import EntryExplanation, analysed, why
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import references_accepted
from rosetta_tui.show.figures import by_reason, of_entries
from rosetta_tui.show.output_text import CreeTarget, converted, other_writing
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import PageLine, show, show_lines, shown_value
from rosetta_tui.toolkit.pages import readable
from scoring.core.inventory import by_category, short_title
from scoring.core.metric import StatisticsError
from scoring.core.scorer import EntryValues, Scorer
from scoring.core.specification import TRANSLATIONS
from scoring.findings.finding import FindingCode, finding_name
from scoring.packs.judged import JudgeScore


@dataclass(frozen=True, slots=True)
class RunScoring:
    """How the stored statistics of a run's entries are read."""

    target_language: str
    scorer: Scorer
    references: float | None  # share of the references' words that the analyser accepts, 0–1
    task: str = TRANSLATION  # what the corpus asks for

    def values(self, result: Result) -> dict[str, float | None]:
        """Return an entry's own values (``entry``)."""
        return self.entry(result).values

    def entry(self, result: Result) -> EntryValues:
        """Return an entry's own values and verdicts from its statistics; the kept values where these do not fit."""
        try:
            return self.scorer.entry_values(self.scorer.unpack(result.statistics))
        except StatisticsError:
            kept = self.scorer.columns
            values = kept.told(result.kept)
            if kept == TRANSLATIONS:
                values = {"exact_match_rate": float(result.exact), "chrf_plus_plus": result.headline}
            return EntryValues(values, result.second, self.scorer.weighing.tier(result.second))


def run_scoring(store: sqlite3.Connection, run: Run) -> RunScoring:
    """Find out how a run was scored; one that states it in a way nobody can read is read by no metric."""
    dataset = read_dataset(store, run.corpus)
    target = dataset.target_language
    try:
        setup = stated_setup(run.opening.scoring)
    except HarnessError:
        return RunScoring(target, Scorer(()), None, dataset.task)
    entries: Sequence[AnyEntry] = ()
    if setup is None:  # only texts are known, and whether there are variants decides what is read
        entries = read_entries(store, run.corpus, read_run(store, run.id).positions).in_order
    scorer = stored_scorer(run, target, entries)
    return RunScoring(target, scorer, references_accepted(run.opening.scoring), dataset.task)


def scores(result: Result, missing: Mapping[str, str], scoring: RunScoring) -> Content:
    """Yield composite and tier of a translation, then the values of each category; no verdict of speakers."""
    own = scoring.entry(result)
    values = {id_: v for id_, v in own.values.items() if of_entries(id_)}
    lines = []
    for _, metrics in by_category(id_ for id_, value in values.items() if value is not None):
        parts = [_score(id_, values[id_], own.verdicts.get(id_), scoring) for id_ in metrics]
        lines.append(Content.styled(" · ", "$quiet").join(parts))
    # the metrics of the run that find nothing to look at in this entry
    if idle := [short_title(id_) for id_, v in values.items() if v is None and id_ not in missing]:
        lines.append(show(f"no value for this entry: {', '.join(idle)}", "$quiet"))
    if not scoring.scorer.mixes:
        return Content("\n").join(lines)
    tier = scoring.scorer.weighing.tier(result.second)
    mixed = Content.assemble(
        ("composite ", "$quiet"),
        (figures.number(result.second, 2), "bold"),
        ("  ", ""),
        (figures.meter(tier), "$mark"),
        f" {tier}",
        (" by its scores alone", "$quiet"),
    )
    return Content("\n").join([mixed, *lines])


def _score(metric: str, value: float | None, verdict: str | None, scoring: RunScoring) -> Content:
    name = show(short_title(metric), "$quiet").append("\u00a0")  # no line ends between a name and its value
    if metric in {"exact_match_rate", "equivalent_match_rate"}:
        return name.append(Content.styled("yes", "$good") if value else Content("no"))
    shown = name.append(shown_value(metric, value, scoring.references))
    return shown.append(f" {verdict}") if verdict else shown


@dataclass(frozen=True, slots=True)
class EntryFacts:
    entry: Entry
    result: Result | None
    attempts: Sequence[Attempt]
    exchanges: Sequence[StoredReply | None]  # of each attempt, None if not kept
    missing: Mapping[str, str]  # metric id → why it has no value in this run
    scoring: RunScoring
    elsewhere: bool = False  # whether the run's outputs were made elsewhere
    judged: Sequence[AnnotationRow] = ()  # what endpoints were asked about the output
    writing: CreeTarget | None = None  # what target texts are converted into; None: nothing


class RunPages:
    """Reads the entries of one run as pages, for the pane at a table and for the screen of one entry."""

    def __init__(self, store: sqlite3.Connection, run: Run, missing: Mapping[str, str]) -> None:
        self._store, self._run, self._missing = store, run, missing

    @cached_property
    def scoring(self) -> RunScoring | None:
        """How the run was scored; None where the store cannot say."""
        return readable(lambda: run_scoring(self._store, self._run))

    def facts(self, position: int, *, turned: bool = False, heard: Result | None = None) -> EntryFacts | None:
        """Read everything about the entry at a place; None where it is gone.

        ``turned`` shows the other writing of the language; ``heard`` is a result that may not be stored yet.
        """
        entry = shown_entries(self._store, self._run.corpus, [position]).get(position)
        if entry is None or self.scoring is None:
            return None
        attempts: Sequence[Attempt] = read_attempts(self._store, self._run.id, position)
        if heard is not None and not attempts:
            attempts = heard.trace
        return EntryFacts(
            entry=entry,
            result=next(iter(shown_results(self._store, self._run.id, [position])), heard),
            attempts=attempts,
            exchanges=[
                None if attempt.reply_key is None else read_exchange(self._store, attempt.reply_key)
                for attempt in attempts
            ],
            missing=self._missing,
            scoring=self.scoring,
            judged=list(shown_annotations(self._store, self._run.id, position)),
            elsewhere=self._run.imported or self._run.setup.outputs_sha256 is not None,
            writing=other_writing(entry.reference) if turned else None,
        )


def page_lines(
    facts: EntryFacts,
    explanation: EntryExplanation | None,
    opened: Collection[str] = (),
    found: Sequence[FindingCode] = (),
) -> Iterator[PageLine]:
    """Yield all of an entry, with what was ``found`` in its output.

    ``opened`` are parts that are shown on demand: analyses, prompt, raw.
    """
    yield from texts(facts)
    if found:
        yield findings_line(found)
    if explanation is not None:
        yield from why(explanation, unjudged(facts))
    if "analyses" in opened:
        yield from analysed(explanation)
    yield from background(facts)
    if "prompt" in opened:
        yield from prompts(facts)
    if "raw" in opened:
        yield from replies(facts)


def findings_line(codes: Sequence[FindingCode], label: str = "Findings") -> PageLine:
    """Return what was found in one output, the most frequent finding first."""
    return PageLine(label, show(" · ".join(map(finding_name, codes)), "$warn"))


def unjudged(facts: EntryFacts) -> set[str]:
    """Return the judges' metrics without a value in the whole run, for which the page gives the reason, and here."""
    values = {} if facts.result is None else facts.scoring.values(facts.result)
    judges = (metric for metric in facts.scoring.scorer.metrics if isinstance(metric, JudgeScore))
    ids = (judge.info.id for judge in judges)
    return {id_ for id_ in ids if id_ in facts.missing and values.get(id_) is None}


def texts(facts: EntryFacts) -> Iterator[PageLine]:
    """Yield source, reference, variants and output, and what the output scored."""
    entry, result, writing, task = facts.entry, facts.result, facts.writing, facts.scoring.task
    turns = _turns(facts)
    yield from turns or record.asked(entry, task, _text(entry.reference, entry, writing, task))
    if entry.variants:
        variants = [_text(variant, entry, writing, task) for variant in entry.variants]
        yield PageLine("Variants", Content("\n").join(variants))
    if not turns or result is None or result.failed:
        yield from _outcome(entry, result, writing, task)
    if result is not None and (content := scores(result, facts.missing, facts.scoring)).plain:
        yield PageLine("Scores", content)


def _turns(facts: EntryFacts) -> list[PageLine]:
    """Return the turns of a conversation with their answers, where the output answers each of them."""
    if facts.scoring.task != "chat":
        return []
    return record.conversation(facts.entry, None if facts.result is None else facts.result.output)


def background(facts: EntryFacts) -> list[PageLine]:
    """Return what is known of the entry, how its output came about, and the metrics without a value."""
    output = None if facts.result is None else facts.result.output
    parts = ("turns",) if _turns(facts) else ()
    lines = [*record.about(facts.entry, facts.scoring.task, output=output, told=parts), *how_made(facts)]
    missing = {**facts.missing, **facts.scoring.scorer.as_stated}
    if facts.result is not None and missing:
        gaps = [show(f"{metrics}: {reason}", "$quiet") for reason, metrics in by_reason(missing)]
        lines.append(PageLine("No value", Content("\n").join(gaps)))
    return lines


def how_made(facts: EntryFacts) -> list[PageLine]:
    """Return how an output came about, and what scoring it cost."""
    lines: list[PageLine] = []
    if facts.result is not None:
        lines.append(PageLine("Attempts", _attempts(facts)))
        if rows := facts.judged:
            # what the scoring of this output asked of endpoints, and what that cost
            known = [row.cost_usd for row in rows if row.cost_usd is not None]
            cost = figures.cost(sum(known) if len(known) == len(rows) else None, sum(known))
            calls = counted(sum(row.calls for row in rows), "call")
            names = ", ".join(row.annotator for row in rows)
            lines.append(PageLine("Scoring", show(f"{calls} · cost {cost} · {names}", "$quiet")))
    return lines


def _text(text: str, entry: Entry, writing: CreeTarget | None, task: str) -> Content:
    """Return a text of the target language, and say so where it is converted."""
    turned = _turned(text, entry, writing)
    if turned == text:
        return record.text_of(text, task)
    return Content.assemble(show(turned), (f"   converted into {writing}", "$quiet"))


def _turned(text: str, entry: Entry, writing: CreeTarget | None) -> str:
    return text if writing is None else converted(text, writing, entry.source)


def tags(entry: Entry) -> Content:
    """Return difficulty, segment, provenance, register and context in one line."""
    parts = [
        f"difficulty {entry.difficulty}" if entry.difficulty is not None else None,
        entry.segment.value.replace("_", " ") if entry.segment else None,
        entry.provenance,
        entry.register_,
        entry.context,
    ]
    return show(" · ".join(part for part in parts if part), "$quiet")


def _outcome(entry: Entry, result: Result | None, writing: CreeTarget | None, task: str) -> list[PageLine]:
    if result is None:
        return [PageLine("Output", Content.styled("not yet", "$quiet"))]
    if result.error_class is not None:
        kind = result.error_class.value.replace("_", " ")
        return [PageLine("Failed", Content.assemble((f"{kind}: ", "bold $bad"), show(result.error or "")))]
    output = result.output or ""
    if entry.not_stored:
        words = "sealed: it came from a vault, and is opened with that alone (rosetta watch RUN --vault FOLDER --purpose WORDS)"
        return [PageLine("Output", Content.styled(words, "$quiet"))]
    if not output.strip():
        return [PageLine("Output", Content.styled("(empty)", "$warn"))]
    shown = _text(output, entry, writing, task)
    if result.exact:
        same = task == TRANSLATION or output.strip() == entry.reference.strip()
        shown = Content.assemble(shown, (f"   {'= reference' if same else '✓ right'}", "$good"))
    lines = [PageLine("Output", shown)]
    if not result.exact and task in record.COMPARED_AS_TEXT:
        # Compare both as they are shown; a conversion may hide how they differ.
        ours, theirs = (_turned(text, entry, writing) for text in (output, entry.reference))
        difference = Content.assemble(record.diff_content(ours, theirs), "\n", (record.LEGEND, "$quiet"))
        if writing is not None and normalize("NFC", ours) == normalize("NFC", theirs):
            message = "the same after conversion; v shows how they are written, and differ"
            difference = Content.styled(message, "$quiet")
        lines.append(PageLine("Difference", difference))
    return lines


def _attempts(facts: EntryFacts) -> Content:
    result = facts.result
    if result is None or not facts.attempts:
        known = result is not None and (result.latency_seconds or result.total_tokens) is not None
        recorded = facts.elsewhere and known
        origin = "recorded when the output was made elsewhere" if recorded else "nothing was called"
        return Content.styled(origin, "$quiet")
    lines = []
    for number, attempt in enumerate(facts.attempts, 1):
        status = "cache" if attempt.cached else str(attempt.status or figures.NONE)
        took = "" if attempt.latency_seconds is None else f" in {figures.seconds(attempt.latency_seconds)} s"
        waited = f" after {figures.seconds(attempt.waited_seconds)} s of waiting" if attempt.waited_seconds else ""
        error = ""
        if attempt.error_class is not None:
            error = f" · {attempt.error_class.value.replace('_', ' ')}: {attempt.error or ''}"
        note = show(f" · {attempt.note}" if attempt.note else "")
        head = Content.styled(f"{number}. ", "$quiet")
        lines.append(Content.assemble(head, f"{status}{took}{waited}", show(error, "$bad"), note))
    parts = [
        counted(result.total_tokens, "token") if result.total_tokens is not None else "tokens unknown",
        f"cost {figures.charged(result.cost_usd, failed=result.failed)}",
        f"paid {figures.money(result.spent_usd)}" if result.spent_usd != result.cost_usd else "",
        f"a share of a call for {result.batch_size} entries" if result.batch_size > 1 else "",
    ]
    return Content("\n").join([*lines, Content.styled(" · ".join(filter(None, parts)), "$quiet")])


def prompts(facts: EntryFacts) -> list[PageLine]:
    """Return what was asked, message by message."""
    lines: list[PageLine] = []
    for number, exchange in _kept(facts):
        body = exchange.body
        messages = body.get("messages") if isinstance(body, Mapping) else None
        if isinstance(body, Mapping) and isinstance(messages, list):
            for message in messages:
                if not isinstance(message, dict):
                    lines.append(PageLine("message", show(record.json_words(message))))
                    continue
                content = message.get("content")
                text = content if isinstance(content, str) else record.json_words(content)
                lines.append(PageLine(plain(str(message.get("role", "message")))[:14], show_lines(text)))
            rest = {name: value for name, value in body.items() if name != "messages"}
            lines.append(PageLine("with", show(record.json_words(rest), "$quiet")))
        else:
            lines.append(PageLine(f"Request {number}", show_lines(record.json_words(body))))
    return lines or [PageLine("Prompt", Content.styled("none is kept for this entry", "$quiet"))]


def replies(facts: EntryFacts) -> list[PageLine]:
    """Return what was answered, as it came."""
    lines = []
    for number, exchange in _kept(facts):
        reply = exchange.reply
        lines.append(PageLine(f"Reply {number}", show_lines(reply.text)))
        lines += [PageLine("tool call", show(record.json_words(call))) for call in reply.tool_calls]
        facts_of_reply = [reply.model_id or "", reply.finish_reason or ""]
        lines.append(PageLine("", show(" · ".join(filter(None, facts_of_reply)), "$quiet")))
    return lines or [PageLine("Raw reply", Content.styled("none is kept for this entry", "$quiet"))]


def _kept(facts: EntryFacts) -> list[tuple[int, StoredReply]]:
    return [(n, exchange) for n, exchange in enumerate(facts.exchanges, 1) if exchange is not None]
