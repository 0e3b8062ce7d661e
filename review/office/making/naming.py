"""Names of reviews: free, fit for a file, and silent about the systems."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.core.failures import UsageError
from review.office.items.reviewed_runs import ReviewedRuns
from review.office.store.store import Office

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}", re.ASCII)
_LEAST = 3
"""Shorter names of models stand in ordinary words too."""


def review_name(office: Office, asked: str | None, dataset_id: str) -> str:
    """Check the name that was asked for, or give the corpus' name with the next free number."""
    if asked is not None:
        if not _NAME.fullmatch(asked) or asked == "last":
            raise UsageError(
                f"--name {asked[:80]!r}: up to 60 letters A–Z, digits, '.', '_' and '-' make a name."
            )
        if office.is_taken(asked):
            raise UsageError(f"There is a review {asked!r} already. Choose another --name.")
        return asked
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", dataset_id)[:50].strip("-._") or "review"
    number = 1
    while office.is_taken(f"{stem}-{number}"):
        number += 1
    return f"{stem}-{number}"


def check_words(runs: ReviewedRuns, words: Mapping[str, str]) -> None:
    """Refuse words for reviewers that name a model under review; ``words`` is option → text."""
    for each in runs.runs:
        model = each.run.setup.model_slug or ""
        names = {model, model.rpartition("/")[2], each.run.run_id, each.run.run_id[:8]}
        for option, text in words.items():
            for name in names:
                if len(name) >= _LEAST and _stands_in(name, text):
                    raise UsageError(
                        f"{option} names a system under review ({name}). Reviewers must not know it; "
                        "choose other words."
                    )


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
