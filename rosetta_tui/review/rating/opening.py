"""Opening a review in a terminal: all that any face needs, and what a terminal cannot draw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from review.files.batch import Batch
from review.log.laptop import Laptop
from review.session import opening
from review.session.choice import Choice
from review.session.words.troubles import InWindowError
from rosetta_tui.review.mis_drawn import MisDrawn, first_mis_drawn


class TerminalOpening(opening.Opening):
    """What both terminal faces open a review with."""

    def __init__(
        self,
        laptop: Laptop,
        *,
        places: Sequence[Path] | None = None,
        language: str | None = None,
        missing: Sequence[Path] = (),
        code: str | None = None,
        draw_anyway: bool = False,
    ) -> None:
        super().__init__(laptop, places=places, language=language, missing=missing)
        self.code = code
        """The reviewer's code as it was given on the command line, unread."""
        self.draw_anyway = draw_anyway
        """True where the person chose to rate texts that a terminal may draw wrongly."""

    def open(self, choice: Choice, passphrase: str | None = None) -> Batch:
        """Open a review of ratings; one that asks for translations is for the window, and InWindowError says so."""
        batch = super().open(choice, passphrase)
        if batch.manifest.task == "translate":
            raise InWindowError(
                "This batch asks for translations, which are written in the window: rosetta-review"
            )
        return batch

    def mis_drawn(self, batch: Batch) -> MisDrawn | None:
        """Tell why a terminal is not safe for this batch, None where it is or the person chose it."""
        if self.draw_anyway:
            return None
        return first_mis_drawn(
            text for item in batch.items for text in (item.source, item.candidate)
        )
