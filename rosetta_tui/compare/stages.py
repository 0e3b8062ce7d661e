"""A comparison in the order in which its parts are known: values at once, tests when they are worked out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison


@dataclass(frozen=True, slots=True)
class Stage:
    """What is known so far."""

    comparison: Comparison
    tags: Mapping[str, Sequence[str | None]]
    """Dimension → tag of each compared entry."""
    tested: bool
    """False where no interval and no p of a finished pair is worth anything yet."""


def stages(
    path: Path,
    runs: Sequence[str],
    baseline: str | None,
    *,
    quick: bool,
    earlier: Comparison | None = None,
) -> Iterator[Stage]:
    """Compare runs of the store at a path; for a thread of its own.

    With ``quick`` values and entries come first, in a tenth of the time. Where every pair is under way nothing
    is tested: what may be said of it needs no shuffles. Of what was compared ``earlier`` only what is new is
    read. Raises HarnessError as ``compare_runs`` does.
    """
    from harness.compare.comparing import compare_runs
    from harness.compare.comparison import part_tags
    from harness.store.file.database import opened

    known, untested = earlier, True
    with opened(path) as store:
        if quick:
            known = compare_runs(store, runs, baseline=baseline, draws=1, trials=1, earlier=known)
            untested = _is_all_under_way(known)
            yield Stage(known, part_tags(known), tested=False)
        found = None
        if untested:
            found = known = compare_runs(store, runs, baseline=baseline, trials=1, earlier=known)
        if found is None or not _is_all_under_way(found):
            found = compare_runs(store, runs, baseline=baseline, earlier=known)
        yield Stage(found, part_tags(found), tested=True)


def _is_all_under_way(found: Comparison) -> bool:
    return bool(found.pairs) and all(pair.under_way for pair in found.pairs)
