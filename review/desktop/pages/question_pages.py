"""Pages before the first sentence that ask one question: a digit or a click answers, Enter alone does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from review.desktop.frame.work import Desk
from review.desktop.pages.first_page import FirstPage
from review.desktop.parts.answers import Answers
from review.files.batch_form import BatchManifest
from review.rating import Relation
from review.session.words import page as page_words
from review.session.words.item import Answer
from review.session.words.keys import may_share, relation_of


class QuestionPage(FirstPage):
    """Words to read, then numbered answers."""

    def ask(
        self, told: Mapping[str, object], of_key: Callable[[str], object], slip: str
    ) -> Answers:
        """Put the answers below the words: what is said → what it means; their numbers are their keys, from 1 on.

        ``of_key`` tells what a key means, None for nothing; ``slip`` is said where Enter alone is pressed.
        """
        answers = Answers([Answer(str(number), said) for number, said in enumerate(told, 1)])
        answers.picked.connect(lambda number: self.answered.emit(list(told.values())[number]))
        self._of_key, self._slip = of_key, slip
        self.hold(answers)
        self.way_back()
        return answers

    def typed(self, character: str) -> bool:
        """Take the answer that a digit names."""
        given = self._of_key(character)
        if given is not None:
            self.answered.emit(given)
        return given is not None

    def enter(self) -> None:
        """Say that an answer is wanted: nobody says this by a slip."""
        self.say(self._slip)


class RelationPage(QuestionPage):
    """How near a person is to the method that is judged: asked once, and nothing is presumed."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        words = self.words
        self.place(page_words.before_you_begin(words))
        self.paragraph(page_words.how_near(words), "strong")
        self.paragraph(page_words.why_how_near(words))
        self.ask(
            dict(zip(page_words.relations(words), Relation, strict=True)),
            relation_of,
            words("Press 1, 2 or 3."),
        )


class SharingPage(QuestionPage):
    """Whether what a person writes may be used: no answer is given for them."""

    def __init__(self, desk: Desk, manifest: BatchManifest, now: bool | None = None) -> None:
        """``now`` is what holds until something else is chosen; None where it was not asked yet."""
        super().__init__(desk)
        words = self.words
        self.place(page_words.before_you_begin(words) if now is None else page_words.using(words))
        translating = manifest.task == "translate"
        self.paragraph(page_words.may_be_used(words, translating=translating), "strong")
        for sentence in page_words.what_using_means(words, manifest.organisation.name):
            self.paragraph(sentence)
        yes, no = page_words.yes_or_no(words)
        slip = words("Press 1 for yes or 2 for no.")
        answers = self.ask({yes: True, no: False}, may_share, slip)
        if now is not None:
            answers.mark([0 if now else 1])
