"""Where am I: the run's corpus, pair, method, model, condition, and its state and time."""

from __future__ import annotations

from textual.content import Content

from harness.core.run_state import RunState
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.show import figures
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.telling import Telling

_PRODUCT = "Rosetta   "

_TONES = {"running": "$mark", "complete": "$good", "failed": "$bad"}


class RunHeader(Telling):
    """One line at the top: what runs at the left, how it stands at the right."""

    def show_run(self, live: LiveRun, *, notes: str = "", replays: bool = False) -> None:
        """Show the run's name and state now, and what a person wrote beside it.

        ``replays``: the run is over and played once more; the line below says whether it plays.
        """
        left, right = _name(live), _replayed(live) if replays else _state(live)
        if notes:
            left = Content.assemble(left, "   ", show(notes, "$quiet"))
        room = self.size.width - right.cell_length - 1
        if left.cell_length + len(_PRODUCT) <= room:
            left = Content.assemble((_PRODUCT, "bold $mark"), left)
        left = left.truncate(max(0, room), ellipsis=True, pad=True)
        self.tell(Content.assemble(left, " ", right))


def _name(live: LiveRun) -> Content:
    started = live.started
    if started is None:
        return Content.styled("Waiting for the run to begin …", "$quiet")
    setup, dataset = started.setup, started.dataset
    model = [] if setup.model_slug == setup.method else [setup.model_slug]
    rest = [dataset.language_pair, setup.method, *model, setup.condition]
    parts = [show(dataset.id, "bold"), *(show(part) for part in rest if part)]
    return Content.styled(" · ", "$quiet").join(parts)


def _state(live: LiveRun) -> Content:
    word = live.state_word
    progress = live.progress
    parts = [Content.styled(word, f"bold {_TONES.get(word, '$warn')}")]
    if progress is not None:
        parts.append(Content.styled(f" {figures.clock(progress.elapsed_seconds)}", ""))
        if progress.doing is not None and not live.over:
            parts.append(Content.styled(f" · {plain(progress.doing)}", "$quiet"))
        elif live.next_try is not None and not live.over:
            when = figures.clock(live.next_try)
            parts.append(Content.styled(f" · next try in {when}", "$warn"))
        elif live.state_word == RunState.RUNNING and progress.eta_seconds is not None:
            parts.append(Content.styled(f" · eta {figures.clock(progress.eta_seconds)}", "$quiet"))
    return Content("").join(parts)


def _replayed(live: LiveRun) -> Content:
    """Say how long the run had been under way then: its state at that time is not one of now."""
    words = Content.styled("replay", "bold $mark")
    if live.progress is None:
        return words
    return words + Content(f" {figures.clock(live.progress.elapsed_seconds)}")
