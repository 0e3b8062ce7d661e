"""The reviews that were made of a corpus in the making, as this computer's office knows them."""

from __future__ import annotations

from pathlib import Path

from harness.core.failures import UsageError
from harness.project.state import HandedOut, Project
from harness.sealed.keys import Identity, Role
from review.office.store.store import Office, Review


def known_reviews(project: Project) -> None:
    """Forget reviews that were noted and never made, because the program was stopped in between.

    UsageError where they were made in another data folder, which alone knows what came back, or this one is a copy from before.
    """
    if not project.state.reviews:
        return
    if not made_here(project):
        raise UsageError(
            f"{project.folder}: its reviews were made in another data folder than {project.home}, and what came back is there. Continue at that computer, or "
            "say where its data folder is (ROSETTA_HOME)."
        )
    with Office.open(project.home) as office:
        here = {
            review.review
            for review in project.state.reviews
            if office.is_taken(review.review)
            and (review.made or _is_of(office.review(review.review), review))
        }
    for review in project.state.reviews:
        if review.made and review.review not in here:
            raise UsageError(
                f"{project.folder}: its review {review.review} is not in the data folder {project.home}, which has the same keys: it is a copy from before. "
                "Continue with the one that has it (ROSETTA_HOME), or put its files back."
            )
    kept = (review for review in project.state.reviews if review.review in here)
    project.change(
        reviews=tuple(handed_out.model_copy(update={"made": True}) for handed_out in kept)
    )


def _is_of(review: Review, out: HandedOut) -> bool:
    """Return whether a review asks what was noted; another one may have got its name meanwhile."""
    asked = {item.entry for item in review.key.items.values()}
    kind = review.is_agreement if out.kind == "agree" else review.translating
    return kind and asked == set(out.entries)


def made_here(project: Project) -> bool:
    """Return whether the reviews of a project were made with the key of its data folder."""
    known = Identity.known(project.home, Role.ORGANISATION)
    return known and project.state.office == own_key(project.home)


def own_key(home: Path) -> str:
    """Return the signing key of a data folder's organisation."""
    return Identity.load(home, Role.ORGANISATION).public.signing_key
