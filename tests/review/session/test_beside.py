"""What stands beside a sentence, in the words of every face."""

from collections.abc import Mapping

import pytest

from corpora.model.entry import CONTEXTS, REGISTERS
from review.files.batch_form import Around, OthersWords
from review.rating import Reason
from review.session.view import ShownItem
from review.session.words import beside
from review.session.words import item as item_words
from review.session.words.catalogue import Words

ITEM = ShownItem("1" * 16, "Source", "Candidate", 1, 1)


def test_nothing_is_said_where_the_batch_says_nothing() -> None:
    assert list(beside.beside(Words.load("en"), ITEM)) == []


def test_neighbours_tags_and_words_of_others_are_named() -> None:
    item = ShownItem(
        "1" * 16, "Source", "Candidate", 1, 1, comment="mine",
        around=Around(context="narrative", formality="our own", before="B.", after="A."),
        others=(
            OthersWords(reasons=(Reason.GRAMMAR, Reason.SPELLING)),
            OthersWords(comment="C.", suggestion="S."),
        ),
    )  # fmt: skip
    marks = item_words.marks(Words.load("en"), item)
    assert [(mark.said, mark.text) for mark in marks] == [
        ("Your comment:", "mine"),
        ("Others wrote in the first round, some of it perhaps you; you need not agree:", ""),
        ("Somebody says: The grammar is wrong; The spelling is wrong.", ""),
        ("Somebody's comment:", "C."),
        ("Somebody's better translation:", "S."),
        ("The sentence before it:", "B."),
        ("The sentence after it:", "A."),
        ("What it is:", "part of a story"),
        ("How it is said:", "our own"),
    ]


@pytest.mark.parametrize(
    ("table", "tags"), [(beside.CONTEXTS, CONTEXTS), (beside.FORMALITIES, REGISTERS)]
)
def test_every_tag_of_the_specification_has_words(
    table: Mapping[str, str], tags: tuple[str, ...]
) -> None:
    assert tuple(table) == tags
