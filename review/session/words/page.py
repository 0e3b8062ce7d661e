"""What the pages around the items say where every face says the same: sentences that name no key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from review.files.manifests import BatchManifest, Wording
from review.rating import Relation
from review.session.view import PART, View
from review.session.words.catalogue import Words, language_name, msgid, same_language
from review.session.words.keys import RELATIONS

WHO_ASKS = msgid("Asked by")
ITS_SIX_WORDS = msgid("Its six words:")
COMPARE_THEM = msgid("Compare them with your card. If they differ, stop and ask.")
BEFORE_YOU_BEGIN = msgid("Before you begin")
READ_MORE = msgid("Read more")
HOW_NEAR = msgid("Did you take part in making the translation program?")
WHY_WE_ASK = msgid("Why we ask")
WHY_HOW_NEAR = msgid(
    "Every answer is welcome, and each counts the same. The result says how many people gave which answer, "
    "and no names."
)
USING = msgid("What may be used")
ANSWERS_STAY = msgid("Your answers stay on this computer until you hand them in.")
ONE_KEY = msgid("One key gives your answer, saves it and shows the next sentence.")
LOOK_AT_UNSAVED = msgid("Look at what is not saved")
HAND_OVER = msgid("Hand in your answers")
SAVING = msgid("Saving and checking … If this is a stick, leave it in.")
NOT_WRITTEN = msgid("Nothing was written. Choose another place, or try again.")
SIX_WORDS_OF_FILE = msgid("These six words belong to your file:")
WRITE_THEM_DOWN = msgid("Write these words down or take a picture. The organisation will see the same words.")
WHAT_TO_TAKE_BACK = msgid("What do you want to take back?")


class OrganiserText(NamedTuple):
    """What the organisation wrote, as a person is shown it."""

    text: str  # Empty where it wrote nothing
    # That it is in another language than the person's or the program's, and in which; empty where
    # it is not
    note: str = ""
    more: str = ""  # What is folded until the person asks for it


_FOLD = re.compile(r"\n[ \t\r]*-{3,}[ \t\r]*\n")  # What stands below the first such line of a consent is folded
_NAMED_NUMBERS = 12  # So many sentences are named by their numbers; nobody hears more of them


class PageWords(NamedTuple):
    """What is to be read on a page."""

    first: str  # Stands out
    rest: tuple[str, ...] = ()


def far(words: Words, view: View) -> str:
    return words("{done} of {total}", done=view.done, total=view.total)


# before the first item


def how_to_judge(words: Words, *, translating: bool = False) -> str:
    """Name the organisation's guide."""
    return words("How to translate") if translating else words("How to judge")


def consent(words: Words, manifest: BatchManifest) -> OrganiserText:
    """Return what a person agrees to, in their language where it is given in it; else with a note about that."""
    wording = manifest.consent_in(*words.reads)
    organiser_text, stated = given(words, manifest, wording), (manifest.version or 0) >= 3
    text, *more = _FOLD.split(organiser_text.text, maxsplit=1)
    organiser_text = organiser_text._replace(text=text.strip(), more="".join(more).strip())
    if not (stated and words.texts and same_language(wording.language, words.texts)):
        return organiser_text
    if same_language(words.texts, words.language):
        return organiser_text
    note = words(
        "The program itself does not speak {language}: its own words stay in {spoken}. "
        "What the organiser wrote is shown in {language}.",
        language=language_name(words.texts),
        spoken=words.name,
    )
    return organiser_text._replace(note=note)


def guide(words: Words, manifest: BatchManifest) -> OrganiserText:
    return given(words, manifest, manifest.guide_in(*words.reads))


def read_more(words: Words, manifest: BatchManifest) -> Iterator[tuple[str, str]]:
    """Yield what is folded, a heading and its text: the rest of the consent, and the organisation's guide."""
    if more := consent(words, manifest).more:
        yield "", more
    if (how := guide(words, manifest)).text:
        yield (
            how_to_judge(words, translating=manifest.task == "translate"),
            "\n".join(filter(None, (how.note, how.text))),
        )


def given(words: Words, manifest: BatchManifest, found: Wording) -> OrganiserText:
    """Return a text of the organisation, and say where it is in another language than the person's.

    Nothing is said of batches of before version 3: in which language their one text is, they do not state.
    """
    text, language = found
    if same_language(language, words.chosen) or not text.strip() or (manifest.version or 0) < 3:
        return OrganiserText(text.strip())
    return OrganiserText(
        text.strip(),
        words(
            "The organiser has not given this in {wanted}; here it is in {language}.",
            wanted=language_name(words.texts) if words.texts else words.name,
            language=language_name(language),
        ),
    )


def what_comes(words: Words, manifest: BatchManifest, view: View) -> str:
    """Return how many sentences a person is asked about, in which parts, and how long that takes."""
    if manifest.task == "translate":
        asked = words.plural(
            "{n} sentence to write in your language.", "{n} sentences to write in your language.", view.total
        )
    else:
        asked = words.plural("{n} translation to judge.", "{n} translations to judge.", view.total)
    if view.total <= PART:
        time = words.plural("That takes about {n} minute.", "That takes about {n} minutes.", view.minutes)
    else:
        time = words.plural("Ten take about {n} minute.", "Ten take about {n} minutes.", view.minutes)
    return f"{asked} {time}"


def promises(words: Words, manifest: BatchManifest) -> tuple[str, ...]:
    return (
        *second_look(words, manifest),
        words("Nothing is sent over the internet."),
        words(ANSWERS_STAY),
        words("Nobody asks your name."),
        words("You can stop, or take back what you gave, at any time."),
    )


def second_look(words: Words, manifest: BatchManifest) -> tuple[str, ...]:
    """Return that this is a second look, or that what is written may be shown in one; nothing of other batches."""
    texts = []
    if manifest.second_of is not None:
        texts.append(
            words(
                "This is a second look at sentences on which people differed. "
                "Keep your answer, or give another: both are right."
            )
        )
    if manifest.shows_words:
        texts.append(
            words(
                "What you write about a sentence may be shown to the other reviewers, without your name, "
                "when they look at it once more."
            )
        )
    return tuple(texts)


def may_be_used(words: Words, *, translating: bool) -> str:
    """Return the question whether what a person writes may be used."""
    if translating:
        return words("May your translations be used?")
    return words("May the better translations that you write be used?")


def relations(words: Words) -> list[str]:
    return [words(RELATIONS[relation]) for relation in Relation]


def yes_or_no(words: Words) -> tuple[str, str]:
    return words("Yes, they may be used"), words("No")


def what_using_means(words: Words, organisation: str) -> tuple[str, ...]:
    """Return what yes and no mean."""
    return (
        words(
            "If you say yes, {organisation} may put them into its collection of translations.",
            organisation=organisation,
        ),
        words("If you say no, they are handed in, but not used."),
        words("You can change this at any time, and then hand in once more."),
    )


# between the items


def rest(words: Words, view: View) -> PageWords:
    """Return how much is done at the end of a part, how long the next one takes, and that one may stop."""
    return PageWords(
        words("{done} done, {left} to go.", done=view.done, left=view.total - view.done),
        (
            words.plural(
                "At your pace, the next part takes about {n} minute.",
                "At your pace, the next part takes about {n} minutes.",
                view.minutes,
            ),
            words("Continue now, or stop here and continue another day: everything is kept."),
        ),
    )


def later(words: Words, view: View) -> PageWords:
    asked = words.plural(
        "You left {n} sentence for later. Look at it now?",
        "You left {n} sentences for later. Look at them now?",
        view.skipped,
    )
    return PageWords(words("You have seen all sentences."), (asked,))


def end(words: Words, view: View) -> PageWords:
    """Return thanks, and how much was answered."""
    answered = words("You answered {done} of {total}.", done=view.done, total=view.total)
    return PageWords(words("That was the last one. Thank you!"), (answered,))


def how_far(words: Words, view: View) -> str:
    """Return how much is answered, left for later, and without any answer yet."""
    open_ = view.total - view.done - view.skipped
    left = words.plural("{n} sentence is left for later.", "{n} sentences are left for later.", view.skipped)
    unseen = words.plural("{n} sentence has no answer yet.", "{n} sentences have no answer yet.", open_)
    texts = [words("You answered {done} of {total}.", done=view.done, total=view.total)]
    return " ".join([*texts, *[left] * bool(view.skipped), *[unseen] * bool(open_)])


def unsaved(words: Words, view: View) -> str:
    """Name the sentences with words that are only drafts, so that nobody believes them submitted; empty for none."""
    if not view.unsaved:
        return ""
    numbers = [str(unsaved.number) for unsaved in view.unsaved]
    more = ["…"] if len(numbers) > _NAMED_NUMBERS else []
    return words.plural(
        "What you wrote about {n} sentence is not saved, so it is not handed in: sentence {numbers}.",
        "What you wrote about {n} sentences is not saved, so it is not handed in: sentences {numbers}.",
        len(numbers),
        numbers=", ".join([*numbers[:_NAMED_NUMBERS], *more]),
    )


def handed_over(words: Words, view: View) -> str:
    """Return when the answers were submitted; empty where they were not, or something came since."""
    return words("Handed in at {time}.", time=view.handed_over) if view.handed_over else ""


# the stick


def where_is_stick(words: Words, *, sticks: bool, folders: bool) -> str:
    """Return the question where to save; ``folders``: whether one on this computer is offered, too."""
    if sticks:
        return words("Where is your stick? Choose it to save your answers there.")
    if folders:
        return words("No stick was found. Put it into this computer, or choose the folder.")
    return words("No stick was found. Put it into this computer.")


def place_to_save(words: Words, place: Path, *, on_stick: bool) -> str:
    """Name a place to save in, on two lines where it has two names."""
    if on_stick:
        return f"{place.name}\n{place}" if place.name else str(place)
    folder = words("A folder on this computer")
    return f"{folder}\n{place}"


def saved(words: Words, *, on_stick: bool) -> str:
    """Return that the file is whole, and what is to be done with it."""
    if on_stick:
        return words("Saved and checked. You may pull the stick out.")
    return words(
        "Saved and checked in a folder on this computer, not on a stick. "
        "The file still has to be brought to the people who asked."
    )


# taking back


def take_back(words: Words) -> PageWords:
    """Return what taking back means, before anything is chosen."""
    return PageWords(
        words("You may take back what you gave, at any time and without a reason."),
        (
            words(
                "What you choose is erased on this computer for good. A stick that you handed in "
                "cannot be called back; the next one tells the organisation to erase it too."
            ),
        ),
    )


def withdrawn(words: Words) -> PageWords:
    """Return that everything was taken back, and what remains to be done."""
    return PageWords(
        words("What you gave for these sentences is erased on this computer."),
        (
            words(
                "If you handed a stick in before, hand one in once more: "
                "it tells the organisation to erase what it has."
            ),
        ),
    )
