"""A dialog that is answered by what a thread did, whatever stands over it by then."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.screen import ModalScreen

Answer = TypeVar("Answer")


class AnsweringScreen(ModalScreen[Answer], Generic[Answer]):
    """Goes with its answer as soon as no other screen is on top, because only the top one can be dismissed."""

    _answers: tuple[Answer, ...] = ()
    """The answer that waits for that."""

    def answer(self, answer: Answer) -> None:
        """Go with an answer, now or when back on top."""
        self._answers = (answer,)
        if self.is_active:
            self.on_screen_resume()

    def on_screen_resume(self) -> None:
        """Go where the answer is there."""
        if self._answers and self.is_active:
            self.dismiss(self._answers[0])
