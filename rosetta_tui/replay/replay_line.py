"""Where a replay is: playing or not, how fast, how far, and which pause was left out."""

from __future__ import annotations

from textual.content import Content

from rosetta_tui.replay.player import Player
from rosetta_tui.show import figures
from rosetta_tui.toolkit.telling import Telling
from scoring.core.wording import percent

MOST_BAR = 40


class ReplayLine(Telling):
    """One line below the header."""

    def show(self, player: Player) -> None:
        """Show where the replay is now."""
        if not player.duration:
            self.tell(Content.styled("reading …", "$quiet"))
            return
        sign, word = ("■", "at the end") if player.over else ("▶", "replay")
        if player.paused and not player.over:
            sign, word = "‖", "paused"
        share = player.now / player.duration
        times = f"{figures.clock(player.now)} of {figures.clock(player.duration)}"
        left = Content.assemble(
            (f"{sign} {word}", "bold $mark"), f"  ×{player.speed:,}", (f"  {times}  ", "$quiet")
        )
        right = _pauses(player)
        room = self.size.width - left.cell_length - right.cell_length - 9
        bar = figures.progress_bar(share, min(MOST_BAR, room)) if room >= 8 else ""
        self.tell(Content.assemble(left, (bar, "$mark"), f" {percent(share):>5}  ", right))


def _pauses(player: Player) -> Content:
    """Say which pause was skipped last, else how many there are."""
    passed = [pause for pause in player.pauses if pause.at <= player.now]
    if passed:
        last = passed[-1]
        words = f"‖ {figures.clock(last.seconds)} skipped at {figures.clock(last.at)}"
        return Content.styled(words, "$warn")
    many = len(player.pauses)
    words = f"{many} pause{'s' * (many != 1)} will be skipped" if many else ""
    return Content.styled(words, "$quiet")
