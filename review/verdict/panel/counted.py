"""Who counts: the one rule by which the verdict, every table, every page and every offer choose whom they hear."""

from __future__ import annotations

from review.log.state import ReviewerState, State
from review.verdict.panel.key import AnswerKey


def counted(state: State, key: AnswerKey) -> list[tuple[str, str, ReviewerState]]:
    """Return (reviewer, batch, what was said there), reviewers by code, a reviewer's batches as the key lists them.

    Heard are the people whom the answer key names, in its batches, who agreed to the terms there; what somebody
    took back is in no state any more.
    """
    return [
        (who, batch, said)
        for who in sorted(key.orders)
        for batch in key.batches
        if (said := state.reviewers.get((batch, who))) is not None and said.consented
    ]
