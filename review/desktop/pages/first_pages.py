"""The pages before the first sentence; on each, who does not read its language finds their own one first."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from shiboken6 import isValid

from harness.sealed.carried_files import ReviewFile
from review.desktop.frame.page import Page
from review.desktop.frame.work import AppContext
from review.desktop.look import shown
from review.desktop.pages.hand_over_page import Folders, first_folder
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers, ChoiceRows
from review.desktop.parts.flow import FlowLayout, Offers
from review.desktop.parts.texts import announce
from review.desktop.parts.writing import LetterRow
from review.files.batch import Batch
from review.files.manifests import BatchManifest
from review.rating import Relation
from review.session import choice as opening_words
from review.session.choice import AskedLine, Choice
from review.session.flow import Other, WasHere
from review.session.opening import SAME_CARD
from review.session.view import View
from review.session.words import page as page_words
from review.session.words.item import Answer
from review.session.words.keys import may_share, relation_of
from review.session.words.troubles import for_whoever_helps


class FirstPage(Page):
    """Has the other languages at the top, where they are seen whatever the length of the page.

    Where something is agreed to, Enter and the button read on until all of it was shown, and then agree.
    """

    language = Signal(str)  # Tag of the language that the person reads

    def __init__(self, desk: AppContext) -> None:
        super().__init__(desk)
        self._agree: tuple[Button, str, Callable[[], object]] | None = None
        languages = Offers()
        for tag, name in desk.opening.languages.items():
            if tag != desk.words.chosen:
                languages.offer(name, partial(self.language.emit, tag))
        self.add(languages)

    def fold_away(self, title: str, folded: Sequence[tuple[str, str]]) -> None:
        """Add a button, and behind it headings and texts that are shown once it is pressed."""
        button = Offers()
        self.add(button)
        roles = [(text, role) for pair in folded for text, role in zip(pair, ("strong", ""), strict=True) if text]
        lines = [self.paragraph(text, role) for text, role in roles]
        for line in lines:
            line.hide()

        def unfold() -> None:
            for line in lines:
                line.show()
            self.setFocus()
            button.hide()
            self.reading.add_unread()
            announce(self, "\n".join(line.text() for line in lines))

        button.offer(title, unfold)

    def agree_by(self, said: str, act: Callable[[], object]) -> None:
        """Add the button that agrees to what is on the page, which Enter presses, too."""
        self._agree = self.button(said, self.enter, self.words("Enter"), main=True), said, act
        bar = self.reading.verticalScrollBar()
        bar.valueChanged.connect(self._say_agree)
        bar.rangeChanged.connect(self._say_agree)

    def enter(self) -> None:
        """Agree, or first show the next part of what there is to read."""
        if self._agree is None:
            super().enter()
        elif not self.reading.read_on():
            self._agree[2]()

    def _say_agree(self) -> None:
        if self._agree is not None and isValid(self):
            button, label, _ = self._agree
            button.setText(label if self.reading.end_shown else self.words("Read on"))


class WelcomePage(FirstPage):
    """Several people may share a computer, so nobody continues as somebody else without a word."""

    def __init__(self, desk: AppContext, title: str, last: WasHere) -> None:
        """The first letters of a code are enough to know one's own card, too little to answer as another."""
        super().__init__(desk)
        words = self.words
        self.place(words("Welcome back"))
        self.paragraph(title, "strong")
        self.paragraph(words("{done} of {total} done", done=last.done, total=last.total))
        self.paragraph(words("The code on your card begins with:"))
        self.paragraph(f"{last.letters} …", "title")
        self.button(words("This is my card"), partial(self.answered.emit, SAME_CARD))
        self.button(words("I have another card"), partial(self.answered.emit, Other.CARD))
        self.way_back()

    def enter(self) -> None:
        """Ignore Enter: neither card is the likelier one."""


class OrganisationPage(FirstPage):
    """The person compares six words with those on the card."""

    def __init__(self, desk: AppContext, batch: Batch) -> None:
        super().__init__(desk)
        words = self.words
        self.place(words(page_words.WHO_ASKS))
        self.paragraph(batch.manifest.organisation.name, "strong")
        self.paragraph(words(page_words.ITS_SIX_WORDS))
        self.paragraph(batch.organisation_phrase, "title")
        self.paragraph(words(page_words.COMPARE_THEM))
        self.agree_by(words("They are the same"), partial(self.answered.emit, True))
        self.way_back(words("Not now"))


class ConsentPage(FirstPage):
    """Who wants what, the organisation's own words, and what holds for everybody; all that is not folded is shown first.

    Whether what a person writes may be used is asked on its own page.
    """

    def __init__(self, desk: AppContext, manifest: BatchManifest, view: View) -> None:
        super().__init__(desk)
        words = self.words
        self.place(words(page_words.BEFORE_YOU_BEGIN))
        consent = page_words.consent(words, manifest)
        self.paragraph(manifest.title.strip(), "strong")
        if manifest.organisation.name not in consent.text:
            self.paragraph(manifest.organisation.name, "quiet")
        self.paragraph(page_words.what_comes(words, manifest, view))
        if consent.note:
            self.paragraph(consent.note, "quiet")
        self.paragraph(consent.text)
        self.paragraph("\n".join(f"• {promise}" for promise in page_words.promises(words, manifest)))
        if manifest.labels:
            self.paragraph(" · ".join(manifest.labels), "quiet")
        if folded := list(page_words.read_more(words, manifest)):
            self.fold_away(words(page_words.READ_MORE), folded)
        self.agree_by(words("I agree"), partial(self.answered.emit, True))
        self.way_back(words("Not now"))


class QuestionPage(FirstPage):
    """Words to read, then numbered answers."""

    def ask(self, told: Mapping[str, Relation | bool], of_key: Callable[[str], object], slip: str) -> Answers:
        """Add the answers below the words: words → value; their numbers are their keys, from 1 on.

        ``of_key`` tells what a key means, None for nothing; ``slip`` is said where Enter alone is pressed.
        """
        answers = Answers([Answer(str(number), label) for number, label in enumerate(told, 1)])
        answers.picked.connect(lambda number: self.answered.emit(list(told.values())[number]))
        self._of_key, self._slip = of_key, slip
        self.hold(answers)
        self.way_back()
        return answers

    def typed(self, character: str) -> bool:
        """Choose the answer that a digit names."""
        if (given := self._of_key(character)) is not None:
            self.answered.emit(given)
        return given is not None

    def enter(self) -> None:
        self.say(self._slip)


class RelationPage(QuestionPage):
    """How near a person is to the method that is judged: asked once, and nothing is presumed."""

    def __init__(self, desk: AppContext) -> None:
        super().__init__(desk)
        words = self.words
        self.place(words(page_words.BEFORE_YOU_BEGIN))
        self.paragraph(words(page_words.HOW_NEAR), "strong")
        self.fold_away(words(page_words.WHY_WE_ASK), [("", words(page_words.WHY_HOW_NEAR))])
        answers = dict(zip(page_words.relations(words), Relation, strict=True))
        self.ask(answers, relation_of, words("Press 1, 2 or 3."))


class SharingPage(QuestionPage):
    """Whether what a person writes may be used: no answer is given for them."""

    def __init__(self, desk: AppContext, manifest: BatchManifest, now: bool | None = None) -> None:
        """``now`` is what holds until something else is chosen; None where it was not asked yet."""
        super().__init__(desk)
        words = self.words
        self.place(words(page_words.BEFORE_YOU_BEGIN) if now is None else words(page_words.USING))
        translating = manifest.task == "translate"
        self.paragraph(page_words.may_be_used(words, translating=translating), "strong")
        for sentence in page_words.what_using_means(words, manifest.organisation.name):
            self.paragraph(sentence)
        yes, no = page_words.yes_or_no(words)
        answers = self.ask({yes: True, no: False}, may_share, words("Press 1 for yes or 2 for no."))
        if now is not None:
            answers.mark([0 if now else 1])


_MOST = 8  # Letters that are named; one is enough for whoever helps


class MissingPage(FirstPage):
    """Says which letters are missing and what to do; a review of which anything can be read never comes here."""

    def __init__(self, desk: AppContext, letters: Sequence[str], organisation: str) -> None:
        """``letters``: one at least, each one character or several that are drawn as one."""
        super().__init__(desk)
        words = self.words
        self.place(words("This computer cannot show the letters of this review"))
        self.paragraph(words("You would see empty boxes where letters should be."), "strong")
        self.paragraph(words("Nobody can judge what cannot be seen, so you are not asked to."))
        self.paragraph(
            words(
                "Tell the people who asked you: {organisation}. They can help with a newer version of this program, "
                "with another computer, or with a review that brings its letters along.",
                organisation=organisation,
            )
        )
        self.paragraph(for_whoever_helps(words, ", ".join(map(letter_names, letters[:_MOST]))), "quiet")
        self.way_back(main=True)


def letter_names(letter: str) -> str:
    """Name each character by its number and, where it has one, its Unicode name."""
    return ", ".join(f"U+{ord(c):04X} {unicodedata.name(c, '')}".strip() for c in letter[:_MOST])


_LONGEST = 400


class AskingPage(FirstPage):
    """What was typed stays there when it was not right."""

    def __init__(self, desk: AppContext, asked: AskedLine, typed: str = "") -> None:
        super().__init__(desk)
        self.place(asked.place)
        # in the label of a buddy, & names a key
        label = self.paragraph(asked.asked.replace("&", "&&"), "strong")
        self._box = QLineEdit(typed)
        self._box.setMaxLength(_LONGEST)
        self._box.setAccessibleName(asked.asked)
        self._box.setAccessibleDescription(asked.about)
        label.setBuddy(self._box)
        self.add(self._box)
        self._box.textEdited.connect(lambda _: self.reading.bring(self._box))
        # Add a row of letters to type the answer with the mouse alone; Tab needs one step past all
        # of it.
        place = QWidget()
        column, row = QVBoxLayout(place), FlowLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        signs = LetterRow([letter for letter in asked.letters if letter.strip()], capitals=False)
        signs.typed.connect(self._take)
        column.addWidget(signs)
        column.addLayout(row)
        if " " in asked.letters:
            space = Button(self.words("Space"))
            space.clicked.connect(lambda: self._take(" "))
            row.addWidget(space)
        rub = Button(self.words("Take away the last letter"))
        rub.clicked.connect(lambda: self._take(""))
        row.addWidget(rub)
        self.add(place)
        self.paragraph(asked.about, "quiet")
        words = self.words
        self.button(words("Continue"), self.enter, words("Enter"), main=True)
        self.way_back()

    def _take(self, letter: str) -> None:
        """Insert a letter; without one, delete that before the cursor, or what is selected."""
        self._box.insert(letter) if letter else self._box.backspace()
        self._box.setFocus()

    @property
    def text(self) -> str:
        """Return what is in the line now."""
        return self._box.text()

    def begin(self) -> None:
        super().begin()
        self._box.setFocus()
        self._box.selectAll()

    def enter(self) -> None:
        if self.text.strip():
            self.answered.emit(self.text)
        else:
            self._box.setFocus()


# ---- Which review: those on sticks and those kept here, the newest first, or any file that the
# person has.


class FilePage(FirstPage):
    """Begins at the stick, where there is one."""

    def __init__(self, desk: AppContext, sticks: Sequence[Path]) -> None:
        super().__init__(desk)
        words = self.words
        self.place(words("Choose a file"))
        self.paragraph(opening_words.which_file(words))
        folders = Folders(desk, next(iter(sticks), first_folder()), ReviewFile.BATCH)
        folders.found.connect(self.answered)
        folders.told.connect(self.tell)
        folders.moved.connect(self._moved)
        self.add(folders)
        for stick in sticks:
            self.button(shown(stick.name or str(stick)), partial(folders.open, stick))
        self.button(words("My own folder"), partial(folders.open, first_folder()))
        self.way_back()

    def _moved(self) -> None:
        """Show the beginning of the folder that is open now."""
        self.tell(None)
        self.reading.show_beginning()


class ChoosePage(FirstPage):
    """The list of reviews; Enter opens the newest."""

    def __init__(self, desk: AppContext, choices: Sequence[Choice], said: str = "") -> None:
        """``said`` is one quiet sentence about what led here."""
        super().__init__(desk)
        self._choices = tuple(choices)
        self.place(self.words(opening_words.REVIEW_TRANSLATIONS))
        for damaged in opening_words.damaged_words(self.words):
            self.paragraph(damaged, "warn")
        if said:
            self.paragraph(said)
        words, empty = self.words, not self._choices
        if empty:
            self.paragraph(words(opening_words.NOTHING_YET), "strong")
            self.paragraph(words("Put the stick that you were given into this computer, then look again."))
            self.paragraph(opening_words.what_it_is_called(words), "quiet")
        else:
            self.paragraph(words(opening_words.WHICH_SENTENCES), "strong")
            rows = ChoiceRows(
                words, [f"{shown(c.title)}\n{shown(opening_words.where(words, c))}" for c in choices], main=True
            )
            rows.chosen.connect(lambda number: self.answered.emit(self._choices[number]))
            self.add(rows)
        key = words("Enter") if empty else ""
        self.button(words("Look again"), partial(self.answered.emit, None), key, main=empty)
        self.button(words("Choose a file …"), partial(self.answered.emit, Other.FILE))
        self.button(words("Close the program"), lambda: self.window().close())

    def enter(self) -> None:
        self.answered.emit(self._choices[0] if self._choices else None)

    def back(self) -> None:
        """Stay: there is no page before this one."""
