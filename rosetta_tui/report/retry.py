"""What asking again for failed entries did to a run, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harness.card.reading import block
from rosetta_tui.report.named_line import line
from rosetta_tui.show.card_fields import blocks
from rosetta_tui.show.metric_words import value
from rosetta_tui.show.text import plain
from scoring.core.metric_names import title

if TYPE_CHECKING:
    from harness.run.retried_scores import RetriedScores


def retry_lines(card: Mapping[str, Any]) -> Iterator[str]:
    """Say which entries were asked for again after they had failed, and with which settings."""
    told = block(card, "retry_of")
    if not told:
        return
    asked, kept = some_entries(told.get("retried")), told.get("kept")
    said = f"asked again for {asked} that had failed; the other {kept} are those of that run"
    yield line("retry of", told.get("run_id"), said)
    parts = list(blocks(told, "parts"))
    for part in parts if len(parts) > 1 else []:
        setup = block(part, "setup")
        temperature = setup.get("temperature")
        yield line(
            f"  {some_entries(part.get('entries'))} by",
            setup.get("model_slug"),
            setup.get("condition"),
            None if temperature is None else f"temperature {temperature}",
            setup.get("prompt_version"),
        )


def some_entries(count: object) -> str:
    """Count entries in words; the count may be anything that a card holds."""
    return f"{plain(str(count))} {'entry' if count == 1 else 'entries'}"


def retried_lines(scores: RetriedScores) -> Iterator[str]:
    """Lay the scores of a retried run beside those without the entries asked for again."""
    again = f"{scores.failed} of {scores.asked} failed once more" if scores.failed else ""
    yield line("without the retried", f"{scores.kept} entries", _values(scores.without), again)
    yield line("before the retry", _values(scores.before) or "the run before is gone")
    yield line(
        "", "entries that are tried until they succeed flatter a score: compare like with like"
    )


def _values(values: Mapping[str, float | None]) -> str:
    return " · ".join(f"{title(name)} {value(name, found)}" for name, found in values.items())
