"""``rosetta review create``: from runs to a batch that speakers can rate without a network."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosetta_tui.text import json_text, plain

if TYPE_CHECKING:
    from review.files.batch_form import TrainingItem
    from review.files.keys import Identity
    from review.files.laptop_card import LaptopCard
    from review.office.batches import Said
    from review.office.creating import Draft, Size
    from review.office.publishing import Protection, Published
    from review.office.recovery_key import RecoveryKey
    from review.office.reviewed_runs import ReviewedRuns
    from review.office.store import Office
    from review.office.texts import ReviewTexts
    from review.verdict.policy import GatePolicy

_FILE = click.Path(path_type=Path)
_MOST_TEXT = 49_000
"""Characters of a consent or guide; a batch holds 50,000, the organisation's name filled in."""

_SEGMENTS = ("development", "diagnostic", "gold_standard", "held_out")


@click.command("create")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--reviewers", default=5, show_default=True, help="How many people rate.")
@click.option("--items", default=80, show_default=True, help="Sentences drawn from the corpus.")
@click.option(
    "--core", type=click.IntRange(1), help="How many of them everybody rates. Default: all."
)
@click.option(
    "--items-per-person", type=click.IntRange(0), help="Further sentences each, beyond the core."
)
@click.option("--bad", type=click.IntRange(0, 500), help="Translations made wrong on purpose.")
@click.option("--repeats", type=click.IntRange(0, 500), help="Translations asked twice.")
@click.option("--anchors", type=click.IntRange(0, 500), help="References among them.")
@click.option("--segment", "segments", multiple=True, type=click.Choice(_SEGMENTS), help="Only entries of it.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Of every draw. Default: random.")
@click.option("--policy", type=_FILE, help="The gate's rule, as TOML. Default: our proposal.")
@click.option("--name", help="Of the review and its files. Default: the corpus, numbered.")
@click.option("--title", help="What reviewers see above it.")
@click.option("--organisation", help="Who asks, by the name that speakers know. Default: the policy's, or that of the review before.")  # fmt: skip
@click.option("--panel", default="", help="How the reviewers were chosen, for the certificate.")
@click.option("--language", default="en", show_default=True, help="Of the words for reviewers.")
@click.option("--consent", type=_FILE, help="What reviewers agree to. {organisation} is filled in.")
@click.option("--guide", type=_FILE, help="How to judge, in your words.")
@click.option("--training", type=_FILE, help="Training items of yours, TOML or TSV.")
@click.option("--label", "labels", multiple=True, help="Tag of the community, such as “TK Verified”.")  # fmt: skip
@click.option("--recipient", "recipients", multiple=True, metavar="age1…|FILE", help="Who else can open the ratings.")  # fmt: skip
@click.option("--for", "laptops", multiple=True, type=_FILE, metavar="LAPTOP-FILE", help="Seal the batch for this laptop alone; as often as there are laptops.")  # fmt: skip
@click.option("--passphrases", is_flag=True, help="One file each, opened by words on the card.")
@click.option("-o", "--output", "folder", type=_FILE, default=Path(), help="Folder for the files.")
@click.option("--cards", type=_FILE, help="File for the cards. Default: review-cards/ in your data folder.")  # fmt: skip
@click.option("--anyway", is_flag=True, help="Make it, though the policy can give no verdict of it.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def create_(runs: Sequence[str], as_json: bool, dry_run: bool, **given: Any) -> None:
    """Make a batch for reviewers from one RUN or several of one corpus (id, its beginning, or `last`).

    The sentences are drawn by difficulty, the outputs are shown without naming their systems, and controls
    are mixed in. The answer key stays in your data folder. Sentences of secret segments are only written
    sealed: for laptops you know (--for), or with passphrases.
    """
    from harness.store.database import home
    from review.office.store import Office
    from review.verdict.policy import read_policy_file

    policy, policy_bytes = read_policy_file(given["policy"])
    texts = _texts(given, policy)
    reviewed = _runs(runs, given["segments"])
    draft = _draft(reviewed, policy, texts, given)
    if not as_json:
        for line in _plan_lines(draft, policy, given):
            click.echo(plain(line))
    if dry_run:
        return
    _require_verdict(draft, policy, anyway=given["anyway"])
    with Office.open(home()) as office:
        published = _publish(office, draft, policy_bytes, texts, given)
    if as_json:
        click.echo(json_text(_told(published)))
    else:
        _say(published, passphrases=given["passphrases"])


def _texts(given: dict[str, Any], policy: GatePolicy) -> ReviewTexts:
    """Give the words for reviewers, the organiser's own in their place."""
    from review.office.texts import review_texts

    texts = review_texts(given["language"])
    given["organisation"] = given["organisation"] or policy.organisation
    return replace(
        texts,
        consent=_own_text(given["consent"], "the consent") or texts.consent,
        guide=_own_text(given["guide"], "the guide") or texts.guide,
    )


def _own_text(path: Path | None, what: str) -> str | None:
    from harness.failures import UsageError
    from harness.user_file import read_text

    if path is None:
        return None
    text, _ = read_text(path, what, 4 * _MOST_TEXT)
    if not 0 < len(text.strip()) <= _MOST_TEXT:
        raise UsageError(f"{path}: {what} needs between 1 and {_MOST_TEXT:,} characters.")
    return text.strip()


def _runs(names: Sequence[str], segments: Sequence[str]) -> ReviewedRuns:
    from contextlib import closing

    from corpora.entry import Segment
    from harness.store.database import open_store
    from review.office.reviewed_runs import read_runs

    with closing(open_store()) as connection:
        return read_runs(connection, names, [Segment(each) for each in segments])


def _draft(
    runs: ReviewedRuns, policy: GatePolicy, texts: ReviewTexts, given: dict[str, Any]
) -> Draft:
    from review.office.creating import draft_review
    from review.office.training import read_training

    training: Sequence[TrainingItem] | None = None
    if given["training"] is not None:
        training = read_training(given["training"])
    seed = secrets.randbits(32) if given["seed"] is None else given["seed"]
    return draft_review(runs, policy, _size(given, runs), seed, texts, training)


def _size(given: dict[str, Any], runs: ReviewedRuns) -> Size:
    from review.office.controls import Counts, usual_counts
    from review.office.creating import Size

    core = given["core"] or min(given["items"], len(runs.shared))
    usual = usual_counts(core * len(runs.runs))
    counts = Counts(
        *(
            usual_count if given[name] is None else given[name]
            for name, usual_count in (
                ("bad", usual.bad),
                ("repeats", usual.repeats),
                ("anchors", usual.anchors),
            )
        )
    )
    return Size(
        given["reviewers"], given["items"], given["core"], given["items_per_person"], counts
    )


def _plan_lines(draft: Draft, policy: GatePolicy, given: dict[str, Any]) -> list[str]:
    from rosetta_tui.review.plan_words import draft_lines

    return list(draft_lines(draft, policy, own_training=given["training"] is not None))


def _require_verdict(draft: Draft, policy: GatePolicy, *, anyway: bool) -> None:
    """Refuse a review of which the policy could give no verdict, however people rate."""
    from harness.failures import UsageError
    from rosetta_tui.review.plan_words import no_verdict

    if not anyway and (reasons := list(no_verdict(draft, policy))):
        raise UsageError(
            f"However people rate, this review could give no verdict: {'; '.join(reasons)}. Ask for more, give "
            "a --policy that asks for less, or add --anyway, for practice or to hear opinions."
        )


def _publish(
    office: Office, draft: Draft, policy: bytes, texts: ReviewTexts, given: dict[str, Any]
) -> Published:
    from harness.store.database import home
    from review.files.keys import Identity, Role
    from review.office.creating import make_review
    from review.office.publishing import publish

    laptops = _laptops(given)
    protection = _protection(office, draft, laptops, passphrases=given["passphrases"])
    identity = Identity.load(home(), Role.ORGANISATION)
    recipients, recovery = _recipients(office, identity, given["recipients"])
    said = _said(office, draft, texts, recipients, protection, given)
    made = make_review(draft, said, policy, identity, one_each=protection.passphrases)
    cards = given["cards"] or home() / "review-cards" / f"{said.name}-cards.txt"
    published = publish(
        office, made, policy, texts, protection, given["folder"], cards,
        laptops=laptops, recovery=recovery,
    )  # fmt: skip
    if recovery is not None:
        _say_recovery(recovery)
    return published


def _laptops(given: dict[str, Any]) -> list[LaptopCard]:
    """Read the cards of the laptops that are named."""
    from harness.failures import UsageError
    from review.files.laptop_card import read_laptop_card
    from review.files.stick import read_file

    if given["laptops"] and given["passphrases"]:
        raise UsageError("Seal the batch for laptops (--for) or with --passphrases, not both.")
    return [read_laptop_card(read_file(path)) for path in given["laptops"]]


def _protection(
    office: Office, draft: Draft, laptops: Sequence[LaptopCard], *, passphrases: bool
) -> Protection:
    """Say how the batch is sealed; a secret one goes to laptops that are known, or is refused."""
    from harness.failures import UsageError
    from review.office.publishing import Protection

    if passphrases or not (draft.secret or laptops):
        return Protection(passphrases=passphrases)
    named = {card.public.signing_key: (card.name, card.public.recipient) for card in laptops}
    known = {each.signing_key: (each.name, each.recipient) for each in office.laptops()}
    chosen = named or known
    recipients = tuple(recipient for _, recipient in chosen.values() if recipient)
    if not recipients:
        raise UsageError(
            "Sentences of secret segments are only written sealed. Name the laptops that may open them "
            "(--for laptop.rosetta-laptop; `rosetta review enrol --card` writes it there), or add --passphrases."
        )
    _say_for_whom(chosen)
    return Protection(recipients)


def _say_for_whom(chosen: Mapping[str, tuple[str, str | None]]) -> None:
    """Name the laptops that will open the batch, and those known ones that will not."""
    from review.files.keys import key_phrase

    for key, (name, recipient) in chosen.items():
        if recipient:
            told = f"Sealed for the laptop {name}: {key_phrase(key)}"
        else:
            told = (
                f"NOT sealed for the laptop {name} ({key_phrase(key)}): the key to seal for it is not known. Import "
                "a file of its ratings, or enrol it by its file (NAME.rosetta-laptop), then make the batch again."
            )
        click.echo(plain(told), err=True)


def _said(
    office: Office,
    draft: Draft,
    texts: ReviewTexts,
    recipients: tuple[str, ...],
    protection: Protection,
    given: dict[str, Any],
) -> Said:
    from review.office.batches import Said
    from review.office.naming import check_words, review_name

    name = review_name(office, given["name"], draft.runs.dataset.id)
    title = given["title"] or texts.title
    check_words(draft.runs, {"--name": name, "--title": title, "--guide": texts.guide})
    return Said(
        name=name,
        title=title,
        organisation=_organisation(office, given["organisation"]),
        texts=texts,
        language=given["language"],
        panel=given["panel"],
        recipients=recipients,
        secret=draft.secret or protection.sealed,
        labels=tuple(given["labels"]),
    )


def _organisation(office: Office, given: str | None) -> str:
    """Give the name of who asks: as given, in the policy, or of the review before; else ask for it."""
    from harness.failures import UsageError

    known = next((each.manifest.organisation.name for each in office.reviews()), "")
    if name := given or known:
        return name
    if sys.stdin.isatty():
        asked: str = click.prompt(
            "Who asks the speakers? The name by which they know you", err=True
        )
        return asked
    raise UsageError(
        "Who asks the speakers? Their cards and what they agree to need a name that they know: add "
        '--organisation "NAME OF YOUR COUNCIL". Later reviews take it from this one.'
    )


def _recipients(
    office: Office, identity: Identity, named: Sequence[str]
) -> tuple[tuple[str, ...], RecoveryKey | None]:
    """Say who can open the ratings: this installation, and those named or the recovery key."""
    from harness.store.database import home
    from review.files.sealing import checked_recipient, read_age_identities
    from review.office.recovery_key import recovery_key

    own, others = identity.public.recipient, []
    for each in named:
        if Path(each).is_file():
            others += [found.recipient for found in read_age_identities(Path(each))]
        else:
            others.append(checked_recipient(each))
    if set(others) - {own}:
        return tuple(dict.fromkeys((own, *others))), None
    recovery = recovery_key(office, home() / "review-recovery-key.txt")
    return (own, recovery.recipient), recovery


def _say_recovery(key: RecoveryKey) -> None:
    if key.new is None:
        told = f"Ratings can also be opened with the recovery key that was made on {key.made[:10]}."
        click.echo(told, err=True)
        return
    click.echo(plain(f"Made a recovery key: {key.place}"), err=True)
    click.echo(
        "Move this file off this computer and lock it away, on paper or a stick in a safe. With it ratings "
        "can be opened if this computer is lost: rosetta review import FILES --identity FILE",
        err=True,
    )


def _told(published: Published) -> dict[str, Any]:
    review = published.review
    return {
        "review": review.name,
        "files": [str(path) for path in published.files],
        "cards": str(published.cards),
        "batches": list(review.key.batches),
        "runs": [run.run_id for run in review.key.runs],
        "items": len(review.key.items),
        "core": len(review.key.core),
        "reviewers": len(review.key.orders),
        "seed": review.key.seed,
        "secret": review.manifest.secret,
        "policy_sha256": review.policy_sha256,
    }


def _say(published: Published, *, passphrases: bool) -> None:
    """Say what was written and what comes next."""
    review, cards = published.review, published.cards
    for path in published.files:
        click.echo(plain(f"Written: {path}"))
    click.echo(plain(f"Written: {cards} (one card for each reviewer; it stays off the stick)"))
    if passphrases:
        click.echo("Each file is sealed. It opens only with the words on its reviewer's card.")
    elif review.manifest.secret:
        click.echo("The batch is sealed. It opens only on the laptops that are named above.")
    else:
        click.echo("The batch is signed but not sealed: its sentences are of open segments.")
    click.echo(
        "Which translation is whose stays in your data folder; nothing of it is in the files."
    )
    if passphrases:
        click.echo(plain(f"Next: print {cards}, then delete it: its words open the files, so it must not be on a stick with them."))  # fmt: skip
        click.echo("Copy to each person's stick the file that their card names.")
    else:
        click.echo(plain(f"Next: copy the batch to sticks, print {cards} and hand out the cards."))
    click.echo(
        plain(f"Later: `rosetta review import STICK`, `rosetta review status {review.name}`.")
    )
