"""What batches of version 3 add: other languages, what stands around a sentence, and second looks."""

import pytest

from harness.sealed.forms import FileError
from review.files.batch import make_batch, open_batch, write_batch
from review.files.manifests import Around, OthersWords, wording
from review.rating import Reason
from tests.review.files.made import ORGANISATION, SALT, identifier, items, manifest, training


def test_what_version_3_adds_comes_back_and_stands_in_no_earlier_one() -> None:
    around = Around(context="greeting", formality="formal", before="Hello.", after="Bye.")
    said = (OthersWords(reasons=(Reason.GRAMMAR,), comment="too formal", suggestion="Saluton."),)
    shown = [items()[0].model_copy(update={"around": around, "others": said}), *items()[1:]]
    lessons = [training()[0].model_copy(update={"explanations": {"fr": "Rien ne manque."}})]
    added = {
        "translations": {"fr": {"consent": "Nous vous demandons."}, "es": {"guide": "Lea."}},
        "shows_words": True,
        "second_of": identifier("before"),
    }
    made = make_batch(manifest(**added), shown, lessons, ORGANISATION, SALT)
    assert open_batch(write_batch(made)) == made
    for parts in (shown, training()), (items(), lessons):
        with pytest.raises(FileError, match="more than its version has"):
            make_batch(manifest(format="rosetta-batch/2"), *parts, ORGANISATION, SALT)
    with pytest.raises(ValueError, match="later version"):
        manifest(format="rosetta-batch/2", shows_words=True)
    with pytest.raises(FileError, match="no second look"):
        make_batch(manifest(), shown, [], ORGANISATION, SALT)
    with pytest.raises(FileError, match="in one language twice"):
        make_batch(manifest(translations={"en": {"guide": "x"}}), items(), [], ORGANISATION, SALT)


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("en", "en"), ("en-GB", "en"), ("fr", "fr"), ("fr-CA", "fr-CA"), ("fr-BE", "fr"),
        ("FR-ca", "fr-CA"), ("pt", "pt-BR"), ("crk", "en"), ("es", "en"), ("e", "en"),
    ],
)  # fmt: skip
def test_a_text_is_given_in_the_nearest_language(wanted: str, shown: str) -> None:
    given = {"fr-CA": "fr-CA", "fr": "fr", "pt-BR": "pt-BR", "es": " "}
    assert wording("en", "en", given, wanted) == (shown, shown)


def test_a_text_that_the_batch_has_in_other_languages_only_is_given_in_one_of_these() -> None:
    assert wording("", "en", {"fr": "b", "es": "a"}, "en") == ("a", "es")
    assert wording("", "en", {}, "fr") == ("", "en")
