"""Whether a batch's manifest and items fit together; a signature alone does not say so."""

from __future__ import annotations

from collections.abc import Sequence

from corpora.text.visible import plain
from review.files.batch_form import BatchItem, BatchManifest, TrainingItem
from review.files.reviewer_codes import CodeError, read_code
from review.sealed.problem import FileError, FileProblem
from review.sealed.sealing import SealError, checked_recipient

_PLACE_DIGITS = 64
"""Of a person's place (``files.person_tag``); codes and tags have fewer."""


def check_content(
    manifest: BatchManifest, items: Sequence[BatchItem], training: Sequence[TrainingItem]
) -> None:
    """Raise FileError, which names what is wrong and quotes no text of an item."""
    if not items:
        raise _invalid("it holds nothing to do")
    if manifest.task == "translate":
        _check_for_translators(items, training)
    if any(plain(letter) != letter for letter in manifest.letters):
        raise _invalid("one of its letters would act instead of showing")
    _check_version(manifest, [*items, *training])
    known = {item.id for item in items}
    if len(known | {item.id for item in training}) < len(items) + len(training):
        raise _invalid("two items have the same id")
    for place, order in manifest.orders.items():
        _check_person(place, manifest)
        _check_order(order, known)
    _check_recipients(manifest.organisation.recipients)


def _check_version(manifest: BatchManifest, shown: Sequence[BatchItem]) -> None:
    """Refuse what the stated version does not have: a program that reads that version would not show it."""
    later = {"around", "others", "explanations"}
    if (manifest.version or 0) < 3 and any(item.model_fields_set & later for item in shown):
        raise _invalid("its sentences say more than its version has")
    if manifest.language in manifest.translations:
        raise _invalid("it has its words in one language twice")
    if manifest.second_of is None and any(item.others for item in shown):
        raise _invalid("it shows what others wrote, and is no second look")


def _check_for_translators(items: Sequence[BatchItem], training: Sequence[TrainingItem]) -> None:
    if training:
        raise _invalid("it asks for translations and has training for ratings")
    if any(item.candidate for item in items):
        raise _invalid("it asks for translations and gives some")
    if not all(item.source.strip() for item in items):
        raise _invalid("a sentence to translate is empty")


def _check_person(place: str, manifest: BatchManifest) -> None:
    if not manifest.names_codes:
        if len(place) < _PLACE_DIGITS:
            raise _invalid(
                "it names a reviewer openly, so that whoever has it could answer as this person"
            )
        return
    try:
        read_code(place)
    except CodeError:
        raise _invalid("it names somebody by what is no reviewer's code") from None


def _check_order(order: Sequence[str], known: set[str]) -> None:
    if not order:
        raise _invalid("a reviewer has nothing to do")
    if len(set(order)) < len(order):
        raise _invalid("a reviewer would be asked the same item twice")
    if not known.issuperset(order):
        raise _invalid("a reviewer would be asked an item that is not there")


def _check_recipients(recipients: Sequence[str]) -> None:
    try:
        different = {checked_recipient(each) for each in recipients}
    except SealError as error:
        raise _invalid(f"ratings could not be sealed: {error}") from None
    if len(different) < 2:
        raise _invalid("ratings would be sealed for one key only; if it is lost, so are they")


def _invalid(reason: str) -> FileError:
    return FileError(
        FileProblem.INVALID,
        f"This batch cannot be used: {reason}. Ask the organisation to mend it.",
    )
