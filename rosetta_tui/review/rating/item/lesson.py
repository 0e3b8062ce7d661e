"""The answer to a training item and why it is the answer."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from review.session.view import Lesson
from review.session.words.catalogue import Words
from review.session.words.item import lesson_said
from rosetta_tui.review.rating.parts.render import told
from rosetta_tui.toolkit.content import show_lines


class LessonBox(VerticalScroll):
    """Hidden until the person gave an answer."""

    can_focus = False

    def compose(self) -> ComposeResult:
        """Lay out the box."""
        yield Static()

    def tell(self, words: Words, lesson: Lesson | None) -> None:
        """Say what the answer is; None hides the box."""
        self.display = lesson is not None
        if lesson is not None:
            self.query_one(Static).update(lesson_words(words, lesson))
            self.scroll_home(animate=False)


def lesson_words(words: Words, lesson: Lesson) -> Content:
    """Say whether both answers agree, and why the expected one is expected."""
    agrees = lesson.given is lesson.expected
    first = told(lesson_said(words, lesson), "bold $good" if agrees else "bold")
    note = told(f"\n{lesson.note}" if lesson.note else "", "$quiet")
    return Content.assemble(first, note, "\n", show_lines(lesson.explanation))
