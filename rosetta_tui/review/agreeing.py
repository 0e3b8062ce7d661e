"""Before the first item: who asks, whether a terminal can show the writing, and what one agrees to."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from review.files.batch import Batch
from review.files.batch_form import BatchManifest
from review.rating import Relation
from review.session import page_words
from review.session.labels import sharing
from review.session.troubles import Trouble
from review.session.words import Words
from rosetta_tui.review.key_line import Hint, KeyLine
from rosetta_tui.review.mis_drawn import WHY, MisDrawn, what_to_do
from rosetta_tui.review.page import Page, given_text, paragraph
from rosetta_tui.review.resting import shares_or_not
from rosetta_tui.review.told import told
from rosetta_tui.review.trouble import NO_TROUBLE, TroubleLine
from rosetta_tui.text import show


class YesPage(Page[bool]):
    """Gives True where the person goes on."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "agree", show=False)]

    def action_agree(self) -> None:
        """Go on."""
        self.dismiss(True)

    def _back(self) -> Hint:
        return Hint(self.words("Esc"), self.words("not now"), "leave")


class OrganisationPage(YesPage):
    """Shows an organisation that this computer does not know, once, with the six words of its key."""

    def __init__(self, words: Words, batch: Batch) -> None:
        super().__init__(words)
        self._batch = batch

    def place(self) -> str:
        """Say where the person is."""
        return page_words.who_asks(self.words)

    def body(self) -> ComposeResult:
        """Show the name and the words."""
        words = self.words
        yield paragraph(page_words.comes_from(words))
        yield Static(show(self._batch.manifest.organisation.name, "bold"))
        yield paragraph(page_words.its_six_words(words))
        yield Static(show(f"    {self._batch.organisation_phrase}", "bold $mark"))
        yield paragraph(page_words.compare_them(words))

    def hints(self) -> Sequence[Hint]:
        """Give the keys."""
        words = self.words
        return [Hint(words("Enter"), words("they are the same"), "agree"), self._back()]


class WarningPage(Page[bool]):
    """Refuses text that a terminal draws wrongly; going on all the same takes a key of its own."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "anyway", show=False),
        Binding("enter", "leave", show=False),
    ]

    def __init__(self, words: Words, why: MisDrawn) -> None:
        super().__init__(words)
        self._why = why

    def place(self) -> str:
        """Say where the person is."""
        return self.words("This writing may be shown wrongly here")

    def body(self) -> ComposeResult:
        """Say why, and what to do."""
        words = self.words
        yield paragraph(words(WHY[self._why]), "bold")
        yield paragraph(words("A wrong word could seem right, or a right word wrong."))
        yield paragraph(what_to_do(words))
        yield paragraph(
            words(
                "You can go on here all the same. With each answer it is noted that the writing "
                "may have been shown wrongly."
            ),
            "$quiet",
        )

    def hints(self) -> Sequence[Hint]:
        """Give the keys."""
        words = self.words
        return [
            Hint(words("Enter"), words("back"), "leave"),
            Hint("a", words("go on all the same"), "anyway"),
        ]

    def action_anyway(self) -> None:
        """Go on all the same."""
        self.dismiss(True)


class RelationPage(Page[Relation]):
    """How near the person is to the method: one key, and no answer is presumed; None where they stop here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(str(number), f"say({number})", show=False) for number in range(1, 4)
    ]

    def __init__(self, words: Words, trouble: Trouble = NO_TROUBLE) -> None:
        super().__init__(words)
        self._trouble = trouble

    def on_mount(self) -> None:
        """Say why it is asked again."""
        self.query_one(TroubleLine).tell(self.words, *self._trouble)

    def place(self) -> str:
        """Say where the person is."""
        return page_words.before_you_begin(self.words)

    def body(self) -> ComposeResult:
        """Ask."""
        yield paragraph(page_words.how_near(self.words), "bold")
        yield paragraph(page_words.why_how_near(self.words))
        for number, said in enumerate(page_words.relations(self.words), 1):
            yield paragraph(f"{number}  {said}", "bold")

    def hints(self) -> Sequence[Hint]:
        """Give the keys."""
        told = enumerate(page_words.relations(self.words), 1)
        keys = [Hint(str(number), said, f"say({number})") for number, said in told]
        return [*keys, Hint("q", self.words("stop"), "leave")]

    def action_say(self, number: int) -> None:
        """Give the answer."""
        self.dismiss(list(Relation)[number - 1])


class Consent(Enum):
    """What the person said to the consent text."""

    AGREED = auto()
    AGREED_AND_SHARES = auto()
    """The better wordings that the person writes may be used."""
    LANGUAGE = auto()
    """Another language is asked for first."""


class ConsentPage(Page[Consent]):
    """What the person agrees to, in plain words; None where they do not agree now."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "agree", show=False),
        Binding("b", "share", show=False),
        Binding("l", "language", show=False),
        Binding("w", "leave", show=False),
    ]

    def __init__(
        self, words: Words, manifest: BatchManifest, trouble: Trouble = NO_TROUBLE
    ) -> None:
        super().__init__(words)
        self._manifest = manifest
        self._trouble = trouble
        self._shares = False

    def on_mount(self) -> None:
        """Say why it is asked again."""
        self.query_one(TroubleLine).tell(self.words, *self._trouble)

    def place(self) -> str:
        """Say where the person is."""
        return page_words.before_you_begin(self.words)

    def body(self) -> ComposeResult:
        """Say who asks for what."""
        words, manifest = self.words, self._manifest
        yield Static(
            Content.assemble(
                show(manifest.title, "bold"), "\n", show(manifest.organisation.name, "$quiet")
            )
        )
        yield paragraph(page_words.what_comes(words, manifest))
        yield paragraph("\n".join(f"• {each}" for each in page_words.promises(words, manifest)))
        yield from given_text(page_words.consent(words, manifest))
        if manifest.labels:
            yield Static(show(" · ".join(manifest.labels), "$quiet"))
        yield Static(self._sharing(), id="share")
        means = page_words.what_using_means(words, manifest.organisation.name)
        yield paragraph(show(" ".join(means), "$quiet"))
        if (guide := page_words.guide(words, manifest)).text:
            yield paragraph(page_words.how_to_judge(words), "bold")
            yield from given_text(guide)

    def _sharing(self) -> Content:
        return told(f"• {sharing(self.words, shares=self._shares)}", "bold")

    def hints(self) -> Sequence[Hint]:
        """Give the keys."""
        words = self.words
        return [
            Hint(words("Enter"), words("I agree"), "agree"),
            Hint("b", shares_or_not(words, shares=self._shares), "share"),
            Hint("l", words("language"), "language"),
            Hint("w", words("not now"), "leave"),
        ]

    def action_share(self) -> None:
        """Allow it, or take that back; it is told where the keys are, whatever part of the text is seen."""
        self._shares = not self._shares
        self.query_one("#share", Static).update(self._sharing())
        self.query_one(KeyLine).offer(self.hints())

    def action_language(self) -> None:
        """Choose another language first."""
        self.dismiss(Consent.LANGUAGE)

    def action_agree(self) -> None:
        """Agree."""
        self.dismiss(Consent.AGREED_AND_SHARES if self._shares else Consent.AGREED)
