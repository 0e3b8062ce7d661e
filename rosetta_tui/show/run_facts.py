"""What a line about a run says of it, in tables of the terminal and of the app."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from harness.card.reading import block, kept_inside, number
from harness.core.failures import RunState
from harness.store.run_list import RunSummary
from harness.store.runs import under_way
from rosetta_tui.show import card_fields, figures
from rosetta_tui.show.figures import value
from scoring.core.inventory import short_title
from scoring.core.specification import TRANSLATIONS, KeptColumns, stated_columns

if TYPE_CHECKING:
    from harness.compare.pairs import ComparedRun


def runs_now(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Return runs as they are now: one whose process is gone is stopped, whatever the store says."""
    ended = {RunState.STOPPED, RunState.COMPLETE}
    return [run if run.state in ended or under_way(run) else replace(run, state=RunState.STOPPED) for run in runs]


def leaving(run: RunSummary) -> RunSummary:
    """Return a run as it may leave this computer: one of this store with secret entries has no number here."""
    if run.imported or not kept_inside(run.card):
        return run
    card = {name: value for name, value in (run.card or {}).items() if name in _LEAVING}
    return replace(run, card=card, failures={}, failed=0)


_LEAVING = "run_id", "run_card_hash", "dataset", "scoring", "fingerprint", "method", "model_slug", "withheld"
"""Parts of a card with secret entries that say nothing of their outcome; its seal is what certificates name."""


def score(run: RunSummary, metric: str) -> float | None:
    """Return a score of a run by metric id, or ``composite``; None where its card has none."""
    return number(block(run.card or {}, "scores").get(metric))


def kept_of(run: RunSummary) -> KeptColumns:
    """Return what a run is shown by: as its card states it, else as it was begun."""
    return stated_columns(run.scoring if run.card is None else run.card.get("scoring"))


def headline(run: RunSummary) -> float | None:
    """Return what a finished run is shown by first: chrF++ of a translation."""
    return score(run, kept_of(run).headline)


def tiered(run: RunSummary) -> bool:
    """Return whether a run may have a tier, as translations alone may."""
    return kept_of(run) == TRANSLATIONS


def kept_words(run: RunSummary) -> list[str]:
    """Return each metric by which a run of another task is shown, named, with its interval."""
    scores = block(run.card or {}, "scores")
    return [f"{short_title(id_)} {card_fields.with_interval(scores, id_)}" for id_ in kept_of(run).ids]


def lead_words(run: RunSummary, *, other: bool = False, named: bool = False) -> tuple[str, str]:
    """Return chrF++ and composite; of a run under way those so far, which are no result yet.

    Of other tasks than translation the headline with its name, which has no composite next to it. ``other``: its
    composite has other inputs than most. ``named``: chrF++ bears its name too.
    """
    name = f"{short_title(card_fields.LEAD[0])} " if named else ""
    now = so_far(run) if run.card is None else {}
    if now and "composite" not in now:
        [(id_, reached)] = now.items()
        return f"{short_title(id_)} {value(id_, reached)} so far", figures.NONE
    if not tiered(run):
        if run.card is None:
            return figures.NONE, figures.NONE
        id_ = kept_of(run).headline
        return f"{short_title(id_)} {value(id_, headline(run))}", figures.NONE
    if now:
        chrf = figures.number(now["chrf_plus_plus"], 1)
        return f"{name}{chrf} so far", figures.number(now["composite"], 2)
    composite = figures.number(score(run, "composite"), 2)
    scores = block(run.card or {}, "scores")
    chrf = card_fields.with_interval(scores, "chrf_plus_plus")
    return chrf if chrf == figures.NONE else name + chrf, composite + OTHER_INPUTS * other


def named(run: RunSummary) -> str:
    """Return which run is meant: its corpus, its set-up, the beginning of its id."""
    return f"{run.dataset_id} · {setup_words(run)} · {run.run_id[:8]}"


def so_far(run: RunSummary) -> dict[str, float | None]:
    """Return chrF++ and composite (or the headline) of the entries that are in, of a run without a card; empty if unknown."""
    stated = {} if run.live is None else run.live.so_far
    if len(stated) == 1 and not stated.keys() & set(card_fields.LEAD):
        return dict(stated)
    return {name: stated.get(name) for name in card_fields.LEAD} if stated else {}


def setup_words(run: RunSummary) -> str:
    """Return method, model and condition, after what parts it from others that have the same.

    A chosen name is in place of the method's. A name that is all of these stands once. A run whose outputs are those of another is marked, lest it is
    taken for a second experiment; so is one that asked again for another's failed entries.
    """
    again = "rescored" if run.rescore_of else "retried" if run.retry_of else ""
    parts = dict.fromkeys((run.distinction, run.method_name or run.method, run.model_slug, run.condition, again))
    return ("↺ " if again else "") + " · ".join(part for part in parts if part)


def when(seconds: float) -> str:
    """Return a Unix time as the date and time of this machine's place."""
    moment = _moment(seconds)
    return figures.NONE if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M")


def failed_words(failed: int, failures: Mapping[str, int]) -> str:
    """Return for a cell how many entries failed, and how: ``18 connection``, ``20: connection 18, empty 2``."""
    if len(failures) < 2:
        return " ".join([f"{failed:,}", *map(_kind, failures)])
    return f"{failed:,}: {_kinds(failures)}"


def failed_told(failed: int, failures: Mapping[str, int]) -> str:
    """Return for a sentence how many entries failed, and how: ``18 failed (connection)``."""
    kinds = ", ".join(map(_kind, failures)) if len(failures) < 2 else _kinds(failures)
    return f"{failed:,} failed ({kinds})" if kinds else f"{failed:,} failed"


def _kinds(failures: Mapping[str, int]) -> str:
    return ", ".join(f"{_kind(name)} {count:,}" for name, count in failures.items())


def _kind(name: str) -> str:
    return name.replace("_", " ")


def iso(seconds: float) -> str | None:
    """Return a Unix time as ISO 8601 in UTC, to the millisecond as in a card; None where no calendar has it."""
    moment = _moment(seconds)
    return None if moment is None else moment.isoformat(timespec="milliseconds")


def _moment(seconds: float) -> datetime | None:
    """Read a time of the years 1970 to 9998: every place of the world has a date for it."""
    return None if not 0 <= seconds < 253_370_764_800 else datetime.fromtimestamp(seconds, UTC)


OTHER_INPUTS = "≠"  # marks a composite that does not compare with most of its corpus
OTHER_INPUTS_WORDS = (
    "≠ a composite of other inputs than most runs of this corpus have: neither it nor its tier compares with theirs"
)


def other_inputs(runs: Sequence[RunSummary]) -> frozenset[str]:
    """Return the runs whose composites weigh other inputs than most (or the newest, in a tie) over the same corpus file."""
    kinds: dict[str, dict[Hashable, list[str]]] = {}
    for run in runs:
        card = run.card or {}
        if number(block(card, "scores").get("composite")) is not None:
            corpus = str(block(card, "dataset").get("sha256"))
            kinds.setdefault(corpus, {}).setdefault(_weighed(card), []).append(run.run_id)
    others: list[str] = []
    for of_corpus in kinds.values():
        most = max(of_corpus.values(), key=len)
        others += [run_id for ids in of_corpus.values() if ids is not most for run_id in ids]
    return frozenset(others)


def _weighed(card: Mapping[str, Any]) -> Hashable:
    """Return what a composite is made of: its profile and the ids of its inputs."""
    scores = block(card, "scores")
    parts = tuple(sorted(str(block.get("metric")) for block in card_fields.blocks(scores, "composite_inputs")))
    return str(scores.get("composite_profile")), parts


# As a line of a list

TIER = "tier"  # heading of the column that says what may be claimed
CAVEATS = "caveats"  # heading: which part of the outputs fails; left out where none does

HEADINGS = ("when", "run", "corpus", "method", "state", "chrF++", "composite", TIER, CAVEATS, "cost", "failed")

OF_TRANSLATIONS = ("composite", TIER, CAVEATS)  # columns in which runs of other tasks have nothing


def translates(run: RunSummary) -> bool:
    """Return whether a run is of translations; one that says nothing of its task, nor by its score so far, counts as one."""
    return tiered(run) and (run.card is not None or len(so_far(run)) != 1)


def headings(runs: Sequence[RunSummary]) -> tuple[str, ...]:
    """Return HEADINGS; where runs of another task are among them, the score's does not name one metric."""
    mixed = not all(map(translates, runs))
    return tuple("score" if mixed and name == "chrF++" else name for name in HEADINGS)


def stated_mark(run: RunSummary | ComparedRun) -> str:
    """Return what stands behind the claim of a card whose outputs nobody scored again here; empty for any other."""
    return " (stated)" if run.stated else ""


def run_line(run: RunSummary, *, other: bool = False, named: bool = False) -> tuple[str, ...]:
    """Return a run's cells under HEADINGS; ``other``: other composite inputs than most; ``named``: chrF++ bears its name."""
    card = run.card or {}
    score, composite = lead_words(run, other=other, named=named)
    return (
        when(run.created),
        run.run_id[:8],
        f"{run.dataset_id} {run.language_pair}",
        setup_words(run),
        _state(run),
        score,
        composite,
        card_fields.tier_words(card, card_fields.review_of(card, run.certificates), beside=True) + stated_mark(run)
        if card and tiered(run)
        else figures.NONE,
        card_fields.caveats_in_words(card) if card and tiered(run) else "",
        figures.in_column(card_fields.cost(run.card)),
        failed_words(run.failed, run.failures),
    )


def _state(run: RunSummary) -> str:
    if run.card is None:
        return f"{run.state} {run.done}/{run.total}"
    parts = ["imported" if run.imported else str(run.state), "unverified" if "unverified" in run.card else ""]
    return ", ".join(part for part in parts if part)
