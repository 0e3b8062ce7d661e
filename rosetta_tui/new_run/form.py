"""The fields of a new run, section by section."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from corpora.model.corpus import Corpus
from corpora.text.messages import counted
from harness.core.failures import HarnessError
from harness.method.method_names import METHOD_CLASSES
from harness.method.option_table import CORPUS, ENTRIES, OPTIONS
from harness.settings import Settings, read_settings
from rosetta_tui.report.cost import between, cost_words, estimate_rows, time_words
from rosetta_tui.report.sweep import together_rows
from rosetta_tui.request import suggesting
from rosetta_tui.request.draft import RunDraft, Value
from rosetta_tui.request.fields import SECTIONS, FieldKind, FormField
from rosetta_tui.request.suggesting import Suggest
from rosetta_tui.show import figures
from rosetta_tui.show.figures import by_reason
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import show, show_lines
from rosetta_tui.toolkit.form.form_line import FormLine
from scoring.core.inventory import short_title

if TYPE_CHECKING:
    from harness.core.calls import Request
    from rosetta_tui.request.look import DraftLook, FormCache, Metrics


MOST_WARNINGS = 3
"""Findings about a corpus that are next to its field; ``rosetta corpus check`` lists all."""


class RunForm(VerticalScroll, can_focus=False):
    """The fields that matter now; the others are made when they come to matter, because there are many."""

    def __init__(self, store_path: Path, typed: Mapping[str, Value]) -> None:
        super().__init__(id="form")
        self._path = store_path
        self._typed = typed
        self._found: DraftLook | None = None
        self._served: list[str] = []
        """Models that a local endpoint said it serves."""
        self.lines: dict[str, FormLine] = {}
        self._sections = {section.title: Vertical(classes="section") for section in SECTIONS}

    def compose(self) -> ComposeResult:
        for section in SECTIONS:
            with self._sections[section.title]:
                yield Static(Content.styled(section.title, "bold $mark"), classes="title")
        with Horizontal(classes="answers"):
            yield Button(Content("Start (^s)"), id="start", compact=True)

    def show_only(self, wanted: Collection[str]) -> None:
        """Show these fields and no others."""
        for section in SECTIONS:
            place = self._sections[section.title]
            new = [f for f in section.fields if f.name in wanted and f.name not in self.lines]
            for field in new:
                suggest = self._suggest(field) if field.kind is FieldKind.SUGGESTED else None
                boxes = {name: name for name in OPTIONS[field.name].boxes}
                choices = boxes if field.kind is FieldKind.TICKS else None
                chosen = {"endpoint": self._settings.endpoint, "model": self._settings.model}
                shown = replace(field, default=chosen.get(field.name) or field.default)
                value = self._typed.get(field.name, "")
                self.lines[field.name] = FormLine(shown, value, suggest=suggest, choices=choices)
                names = (later.name for later in section.fields[section.fields.index(field) + 1 :])
                after = (self.lines[name] for name in names if name in self.lines and self.lines[name].parent)
                place.mount(self.lines[field.name], before=next(after, None))
            for field in section.fields:
                if field.name in self.lines:
                    self.lines[field.name].display = field.name in wanted
            place.display = any(field.name in wanted for field in section.fields)
        if self._found is not None:
            self._offer(self._found)

    @cached_property
    def _settings(self) -> Settings:
        """Return what the person chose for every run; a damaged file is spoken of where the form is examined."""
        try:
            return read_settings(self._path.parent)
        except HarnessError:
            return Settings()

    def _suggest(self, field: FormField) -> Suggest:
        special: dict[str, Suggest] = {
            "file": suggesting.corpora(self._path, lambda: str(self._typed.get("vault", ""))),
            "vault": suggesting.with_paths(suggesting.choices(lambda: suggesting.vaults(self._path.parent))),
            "form": suggesting.choices(suggesting.forms),
            "task": suggesting.choices(suggesting.tasks),
            "method": suggesting.choices(suggesting.methods),
            "method_class": suggesting.choices(lambda: METHOD_CLASSES),
            "endpoint": suggesting.choices(lambda: {**self._settings.endpoints, **suggesting.endpoints()}),
            "model": suggesting.choices(self._known_models),
            "prompt": suggesting.with_paths(suggesting.choices(suggesting.prompts)),
            "metrics": suggesting.metrics,
        }
        return special.get(field.name, suggesting.paths)

    def _known_models(self) -> dict[str, str]:
        endpoint = self._settings.url_of(str(self._typed.get("endpoint", "")))
        served = dict.fromkeys(self._served, "served there")
        return served | suggesting.models(self._path, endpoint)

    def focus_on(self, name: str) -> None:
        """Focus a field, where it is shown."""
        if name in self.lines and self.lines[name].display:
            self.lines[name].take_focus()

    def go_on_from(self, name: str) -> None:
        """Focus the next field, and the start after the last one.

        It goes by the order of the fields: that of the screen is known only once new ones are arranged.
        """
        names = [field.name for section in SECTIONS for field in section.fields]
        later = (self.lines.get(name) for name in names[names.index(name) + 1 :])
        line = next((form_line for form_line in later if form_line is not None and form_line.can_be_filled), None)
        if line is not None:
            line.take_focus()
        else:
            self.query_one("#start").focus()

    def put(self, typed: Mapping[str, Value]) -> None:
        """Fill in the form again."""
        self._typed = typed
        for name, line in self.lines.items():
            line.put(typed.get(name, ""))

    def offer_models(self, models: list[str]) -> None:
        """Offer what the endpoint serves, at once."""
        self._served = models
        self.focus_on("model")
        self.lines["model"].open_list()

    def tell(self, found: DraftLook, *, missing: bool) -> None:
        """Show next to each field what was found out; what is only missing yet, where it is wished."""
        self._found = found
        self._offer(found)
        notes = {"endpoint": found.key, "budget": _budget_words(found, str(self._typed.get("budget", "")))}
        if found.corpus is not None:
            corpus = found.corpus
            lines = [f"{corpus.title} · {counted(corpus.entries, 'entry', 'entries')}"]
            if corpus.terms:
                lines.append(f"terms: {corpus.terms}")
            lines += [f"! {words}" for words in corpus.warnings[:MOST_WARNINGS]]
            if (more := len(corpus.warnings) - MOST_WARNINGS) > 0:
                lines.append(f"… and {more:,} more: rosetta corpus check")
            if not (corpus.warnings or corpus.sealed):
                lines[0] += " · no problems"
            if corpus.unmet:
                lines.append(f"no complete benchmark yet: {', '.join(corpus.unmet)}")
            notes["file"] = "\n".join(lines)
            if found.chosen is not None:
                secret = " · secret: they stay on this machine" if found.secret else ""
                notes["sample"] = f"{found.chosen:,} of {found.corpus.entries:,} entries take part{secret}"
        wrong: dict[str | None, list[str]] = {}
        for trouble in found.troubles:
            if missing or not trouble.missing:
                wrong.setdefault(trouble.field, []).append(trouble.words)
        for name, line in self.lines.items():
            words = "\n".join(wrong.get(name, [])) or notes.get(name, "")
            line.say(words, bad=name in wrong)

    def _offer(self, found: DraftLook) -> None:
        if found.corpus is None:
            return
        counts = {"segment": found.corpus.segments, "difficulty": found.corpus.tiers}
        for name, many in counts.items():
            if name in self.lines:
                self.lines[name].offer({value: f"{plain(value)} ({count:,})" for value, count in many.items()})


def _budget_words(found: DraftLook, budget: str) -> str:
    """Return where the money may not last; what is not a number is spoken of elsewhere."""
    if not budget or found.estimate is None:
        return ""
    if found.estimate.budget:
        return f"! {found.estimate.budget}"
    cost = found.estimate.cost_usd if found.repeats is None else found.repeats.cost_usd
    if cost is None:
        return ""
    words = between(cost, figures.money)
    if cost.expected > float(budget):
        return f"! The budget would stop the run early: it takes {words}."
    return f"! It may not last: the run takes {words}." if cost.high > float(budget) else ""


# ---- What is next to the form of a new run: estimate, command line, metrics, and the first
# prompt as it will go.
#
# Of the metrics it says which ones the run would have, and why it would not have the others.

_MEASURING = ("coaching", "offline", *(field.name for field in SECTIONS[-1].fields))
"""Options that decide which metrics there are."""


def measured(store_path: Path, draft: RunDraft, corpus: Corpus, known: FormCache) -> Metrics:
    """Return which metrics the run would have, and why it would not have the others; raises what keeps one off.

    It looks for cards, analysers and models as the beginning of a run does, so it may take a while. The
    draft is one that nothing is wrong with, the corpus the one that ``look`` read: its file may be another
    by now.
    """
    from harness import api

    names = (*CORPUS.names, *ENTRIES.names, *_MEASURING)
    key = (corpus.sha256, *(draft.values.get(name) for name in names))
    metrics = known.metrics.get(key)
    if metrics is None:
        metrics = api.metrics(store_path, draft.request(corpus))
        known.metrics = {key: metrics}
    return metrics


MOST_SHOWN = 20_000
"""Characters of one message that are shown; coaching may be a book."""

MOST_COMMAND = 2_000
"""Characters of the command line that are shown; copying gives all of it."""

PLUGIN_COST = "What a plug-in costs and takes is seen in the run"
"""Instead of an estimate, for its code is not loaded before."""

VAULT_COST = "What it costs is known once the vault is open: rosetta run --estimate"
"""The same for a corpus of a vault."""


_ONE_REPEAT = "Of these, one repeat:"


def _unpriced(look: DraftLook) -> str:
    """Return why there is no estimate of a draft that nothing is wrong with."""
    return VAULT_COST if look.corpus is not None and look.corpus.sealed else PLUGIN_COST


@dataclass(frozen=True, slots=True)
class Measured:
    """Which metrics a run would have."""

    on: tuple[str, ...] = ()
    off: Mapping[str, str] | None = None
    """Id → why not."""
    trouble: str = ""
    """Why it cannot be told."""


def beside(draft: RunDraft, look: DraftLook, measured: Measured | None) -> Content:
    """Return everything that is next to the form."""
    parts = [*_estimate(look), _title("The same in a shell", "^y copies")]
    command = draft.command()
    parts.append(show(command[:MOST_COMMAND]))
    if (cut := len(command) - MOST_COMMAND) > 0:
        parts.append(Content.styled(f"… and {cut:,} more characters", "$quiet"))
    parts += [Content(), *_metrics(measured)]
    if look.request is None:
        words = plain(look.silent or "It is seen when the form is whole.")
        parts += [_title("First prompt"), Content.styled(words, "$quiet")]
    else:
        more = "shown on this machine only: its entry is secret" if look.secret else "as it will be sent"
        parts += [_title("First prompt", more), *request_lines(look.request)]
    return Content("\n").join(parts)


def in_a_line(look: DraftLook) -> Content:
    """Return the estimate on one line, for a terminal that has no room beside the form."""
    wrong = sum(not trouble.missing for trouble in look.troubles)
    if wrong:
        return Content.styled(f"✗ {'one thing is' if wrong == 1 else f'{wrong} things are'} not right yet", "$bad")
    if look.estimate is None and look.silent:
        words = _unpriced(look)
        return Content.styled(f"{words[0].lower()}{words[1:]}", "$quiet")
    if look.estimate is None:
        return Content.styled("the estimate comes when the form is whole", "$quiet")
    count = counted(look.estimate.entries, "entry", "entries")
    if look.repeats is not None:
        together = dict(together_rows(look.repeats))
        return show(
            f"{len(look.repeats.runs)} × {count} · cost {together['Cost']} · time {together['Time']}, all repeats"
        )
    return show(f"{count} · cost {cost_words(look.estimate)} · time {time_words(look.estimate)}")


def _title(words: str, more: str = "") -> Content:
    return Content.assemble((words, "bold $mark"), (f"  {more}" if more else "", "$quiet"))


def _estimate(look: DraftLook) -> Iterator[Content]:
    yield _title("Estimate", "" if look.repeats is None else f"of all {len(look.repeats.runs)} repeats")
    if look.estimate is None:
        words = f"{_unpriced(look)}." if look.silent else "It comes when the form is whole."
        yield Content.styled(f"{words}\n", "$quiet")
        return
    rows = estimate_rows(look.estimate)
    if look.repeats is not None:
        rows = [*together_rows(look.repeats), (_ONE_REPEAT, ""), *rows]
    for label, words in rows:
        yield Content.assemble((f"{label:<9}", "$quiet"), show(words))
    yield Content()


def _metrics(measured: Measured | None) -> Iterator[Content]:
    yield _title("Metrics")
    if measured is None:
        yield Content.styled("They are known when the form is whole.\n", "$quiet")
    elif measured.trouble:
        yield show(measured.trouble, "$bad") + "\n"
    else:
        yield show("✓ " + " · ".join(map(short_title, measured.on)))
        for reason, titles in by_reason(measured.off or {}):
            yield Content.assemble(show(f"– {titles}: ", "$quiet"), show(reason, "$quiet"))
        yield Content()


def request_lines(request: Request) -> Iterator[Content]:
    """Write out the body of a call: its messages with their line breaks, and all the rest as JSON."""
    yield show(f"POST {request.url}", "$quiet")
    body = request.body
    messages = body.get("messages", []) if isinstance(body, Mapping) else []
    rest = {name: value for name, value in body.items() if name != "messages"} if isinstance(body, Mapping) else body
    for message in messages:
        yield Content.styled(f"\n{plain(str(message.get('role')))}", "$quiet")
        text = str(message.get("content"))
        yield show_lines(text[:MOST_SHOWN])
        if len(text) > MOST_SHOWN:
            yield Content.styled(f"… and {len(text) - MOST_SHOWN:,} more characters", "$quiet")
    yield Content.styled("\nwith", "$quiet")
    yield show_lines(json.dumps(rest, ensure_ascii=False, indent=2))
