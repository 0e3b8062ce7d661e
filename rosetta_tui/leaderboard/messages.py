"""The words about a whole list: which it is, how small a difference it shows, which other lists there are."""

from __future__ import annotations

from collections.abc import Sequence

from corpora.tasks.task import TRANSLATION
from harness.leaderboard.entrant import Entrant
from harness.leaderboard.ranking import Board, apart
from rosetta_tui.show.metric_words import value
from scoring.core.messages import counted
from scoring.core.metric_rows import short_title, title


def board_words(board: Board) -> tuple[str, str]:
    """Return which list this is, and what its composite is made of."""
    name = " ".join(part for part in (board.dataset_id, board.version) if part)
    segments = ", ".join(segment.replace("_", " ") for segment in board.segments)
    some = (
        counted(board.entries, "entry", "entries")
        if board.entries == board.corpus_entries
        else f"{board.entries:,} of {board.corpus_entries:,} entries"
    )
    official = "OFFICIAL · " if board.official else ""
    made = ", ".join(short_title(input_) for input_ in board.grounds.inputs)
    by = f", calibration {board.grounds.calibration[:8]}" if board.grounds.calibration else ""
    mixed = f"composite of {made} (profile {board.grounds.profile}{by})"
    if board.grounds.task != TRANSLATION:
        mixed = f"task {board.grounds.task}"
    return (
        f"{official}{name} · {board.language_pair} · {segments} · {some}",
        f"ranked by {title(board.by)} · {mixed} · sha-256 {board.grounds.sha256[:12]}",
    )


def disagreeing_words(board: Board) -> str:
    """Return how often chrF++ has two runs in the other order; empty where it never has."""
    otherwise, pairs = board.disagreeing if board.by == "composite" else (0, 0)
    return (
        f"chrF++ has {otherwise:,} of {counted(pairs, 'pair')} in the other order"
        if otherwise
        else ""
    )


def smallest_words(board: Board) -> str:
    """Return how small a difference the entries of a list show; empty where that is not known."""
    if board.smallest is None:
        return ""
    return (
        f"{counted(board.entries, 'entry shows', 'entries show')} differences of "
        f"{value(board.by, board.smallest)} {title(board.by)} or more (4 times of 5)"
    )


def others_words(boards: Sequence[Board], index: int) -> str:
    """Return how many runs of the same corpus are in other lists, and why the first of them are."""
    here = boards[index]
    others = [(apart(here, other), other) for other in boards if other is not here]
    told = [(why, other) for why, other in others if why]
    if not told:
        return ""
    runs = sum(len(other.entrants) for _, other in told)
    words = "1 run of this corpus is" if runs == 1 else f"{runs:,} runs of this corpus are"
    reasons = " | ".join(dict.fromkeys(why for why, _ in told))
    return f"{words} in other lists: {reasons}"


LONGEST_SIGNATURE = 200
"""Characters up to which a signature is shown; sacreBLEU's own have fewer than 100."""


def signature_words(entrant: Entrant) -> str:
    """Return what ranks a run first, chrF++ of a translation, with its signature in sacreBLEU's form, whole or not at all; empty where the card states none."""
    headline = entrant.columns.headline
    signature, name = entrant.signature(headline), short_title(headline)
    if len(signature) > LONGEST_SIGNATURE:
        run_id = entrant.run.run_id[:8]
        return f"{name} signature of {len(signature):,} characters: rosetta runs show {run_id}"
    return signature and f"{name}|{signature}"
