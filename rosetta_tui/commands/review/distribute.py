"""Words, keys, laptops and the stick of a new review, and the messages about them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from harness.core.failures import UsageError
from harness.core.storage import read_text
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.phrase import phrase
from harness.sealed.sealing import checked_recipient, read_age_identities
from harness.sealed.stick import PAGE_SUFFIX
from harness.store.sqlite.database import home
from review.browser.page import make_page
from review.files.identities import LaptopCard
from review.office.making.batches import Drawn, ReviewDescription, make
from review.office.making.carried_fonts import font_files, require_fonttools
from review.office.making.publishing import (
    Protection,
    Published,
    RecoveryKey,
    page_names,
    publish,
    recovery_key,
    require_free,
)
from review.office.making.reviewer_programs import TITLES, systems_on
from review.office.making.texts import Kind, ReviewTexts, review_name, texts_of
from review.office.store.store import Office
from review.session.words.catalogue import is_tag
from review.verdict.gate.policy import GatePolicy
from rosetta_tui.commands.review.stick import fill_stick
from rosetta_tui.html.stick_pages import cards_page
from rosetta_tui.review.organiser.words.plan import Letters, letters_json, require_readable
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

_MOST_TEXT = 49_000
"""Characters of a consent or guide; a batch holds 50,000, the organisation's name filled in."""


@dataclass(frozen=True)
class Making:
    """A review that is worked out, and how its batches are signed."""

    corpus: str
    """Id of what it is about; gives the review a name where none was asked for."""
    secret: bool
    texts: ReviewTexts
    """With the organiser's own in their place."""
    letters: Letters
    drawn: Drawn
    rule: GatePolicy | None = None
    """Of the gate; None in a review without a verdict."""
    policy: bytes = b""
    """Of the gate; empty in a review without a verdict."""
    check: Callable[[Mapping[str, str]], None] = lambda _: None
    """Refuses words for reviewers, by option."""
    second_of: str | None = None
    """In a second look: the first batch of the review in which people differed."""
    below_deployable: Sequence[str] = ()
    """Ids of runs below the threshold at which the specification's review begins."""
    at_the_end: str = ""
    """Command that takes what came back into a corpus; empty: the usual one, with the review's name."""


def say_plan(lines: Iterable[str], *, as_json: bool) -> None:
    """Print the plan before anything is written; nothing if JSON is asked for."""
    for line in () if as_json else lines:
        click.echo(plain(line))


def carry_out(office: AbstractContextManager[Office], making: Making, given: dict[str, Any], *, as_json: bool) -> None:
    """Write the files of a new review, and say what was made; UsageError where not all can be read."""
    require_readable(making.letters, anyway=given["anyway"])
    with office as opened:
        published = _hand_out(opened, making, given)
    if as_json:
        click.echo(form_text("review-create", _told(published, making)))
    else:
        # Print what was written and what comes next.
        folder = given["folder"]
        at_the_end = making.at_the_end
        passphrases = given["passphrases"]
        review, cards = published.review, published.cards
        for path in published.files:
            click.echo(plain(f"Written: {path}{_words_of_page(path)}"))
        same_cards = bool(review.manifest.second_of) and not passphrases
        use = "the cards that people have, to print a lost one" if same_cards else "the cards, for you alone"
        click.echo(plain(f"Written: {cards} ({use}: it stays off the stick)"))
        if passphrases:
            click.echo("Each file is sealed. It opens only with the words on its reviewer's card.")
        elif review.manifest.secret:
            click.echo("The batch is sealed. It opens only on the laptops that are named above.")
        else:
            click.echo("The batch is signed but not sealed: its sentences are of open segments.")
        if review.key.runs:
            click.echo("Which translation is whose stays in your data folder; nothing of it is in the files.")
        for line in _next_steps(published, folder, passphrases=passphrases):
            click.echo(plain(line))
        if review.translating and not at_the_end:
            at_the_end = f"rosetta review export {review.name} --corpus FILE.jsonl"
        if at_the_end:
            click.echo(plain(f"At the end: `{at_the_end}`."))


def _words_of_page(path: Path) -> str:
    """Return the six words of a page's content, by which an organiser sees later whether it was changed."""
    if path.suffix != PAGE_SUFFIX:
        return ""
    return f" (a page for any browser; its six words: {phrase(sha256(path.read_bytes()).hexdigest())})"


def require_handing_out(office: Office, making: Making, given: dict[str, Any]) -> None:
    """Raise UsageError over what ``carry_out`` would refuse: letters that cannot be read, secret sentences that cannot be sealed."""
    require_readable(making.letters, anyway=given["anyway"])
    require_page(given, secret=making.secret, second=making.second_of is not None, rule=making.rule)
    not_for, passphrases = given.get("not_for", frozenset()), given["passphrases"]
    _protection(office, given["laptops"], not_for, secret=making.secret, passphrases=passphrases)


def _hand_out(office: Office, making: Making, given: dict[str, Any]) -> Published:
    """Store a new review, fill the stick, write the files, and return them; a key or name that is missing is made and printed."""
    laptops, folder = given["laptops"], given["folder"]
    not_for = given.get("not_for", frozenset())
    require_page(given, secret=making.secret, second=making.second_of is not None, rule=making.rule)
    protection = _protection(office, laptops, not_for, secret=making.secret, passphrases=given["passphrases"])
    if protection.laptops:
        _say_for_whom(_for_whom(office, laptops, not_for))
    identity = Identity.load(home(), Role.ORGANISATION)
    recipients, recovery = _recipients(office, identity, given["recipients"])
    texts = making.texts
    name = review_name(office, given["name"], making.corpus)
    title = given["title"] or texts.title
    guides = [texts.guide, *(in_language.guide for in_language in texts.others.values())]
    making.check({"--name": name, "--title": title, "--guide": "\n".join(guides)})
    description = ReviewDescription(
        name=name,
        title=title,
        organisation=_organisation(office, given["organisation"]),
        texts=texts,
        language=given["language"],
        panel=given["panel"],
        recipients=recipients,
        secret=making.secret or protection.sealed,
        labels=tuple(given["labels"]),
        fonts=making.letters.fonts,
        looks=office.looks(),
        shows_words=given.get("second_look", False),
        second_of=making.second_of,
    )
    made = make(making.drawn, description, identity, making.policy, one_each=protection.passphrases)
    cards = _cards(given, description.name)
    require_free(description.name, folder or Path(), cards)
    if folder is not None:
        people = len(making.drawn.orders)
        fill_stick(
            folder, home(), page_names(name, people, passphrases=protection.passphrases) if given["page"] else ()
        )
    published = publish(
        office, made, making.policy, making.texts, protection, folder or Path(), cards, cards_page,
        browser_page=make_page if given["page"] else None, laptops=laptops, recovery=recovery,
    )  # fmt: skip
    if recovery is not None:
        _say_recovery(recovery)
    return published


def require_page(given: Mapping[str, Any], *, secret: bool, second: bool, rule: GatePolicy | None) -> None:
    """Refuse a page of what only the program may show, and one that could not open its batch."""
    if not given["page"]:
        return
    require_fonttools("A page for the browser (--page)")
    if given["laptops"]:
        raise UsageError(
            "--page: a page cannot open what is sealed for laptops (--for). Seal with --passphrases, or leave out one of the two."
        )
    if second:
        raise UsageError(
            "--page: a second look quotes what people wrote, and a page keeps its answers in a browser, which other "
            "programs of the computer may read. Leave it out: the second look is made in the program."
        )
    if secret and not (rule and rule.secret_pages):
        raise UsageError(
            "--page: these sentences are of a secret segment. A browser keeps answers where other programs of the computer "
            "may read them, and nobody can see whether a page was changed. Leave it out; or, where the organisation "
            "decided that this is good enough, write `secret_pages = true` into its policy (--policy) and add --passphrases."
        )


def _cards(given: Mapping[str, Any], name: str) -> Path:
    """Return the file of the cards; UsageError where it would be on the stick."""
    cards: Path | None = given["cards"]
    if cards is None:
        return home() / "review-cards" / f"{name}-cards.html"
    folder = (given["folder"] or Path()).resolve()
    if folder in cards.resolve().parents:
        raise UsageError(
            f"{cards} would be in the folder for sticks, and it holds everybody's code. Choose another place with --cards, or leave it out."
        )
    return cards


def look_ahead(office: Office, given: dict[str, Any], corpus: str) -> None:
    """Raise UsageError over what can be refused before sentences are opened: names, fonts, files, the stick, and keys.

    ``given`` has the organisation's name from then on. ``corpus``: as in ``Making``.
    """
    name_who_asks(office, given)
    name = review_name(office, given["name"], corpus)
    require_free(name, given["folder"] or Path(), _cards(given, name))
    font_files(given["fonts"], given["licences"])
    _recipients(office, Identity.load(home(), Role.ORGANISATION), given["recipients"])
    if given["folder"] is not None:
        fill_stick(given["folder"], home())  # a copy that breaks off later would use up a grant


def name_who_asks(office: Office, given: dict[str, Any]) -> None:
    """Set the organisation's name in ``given``; UsageError, before any plan is shown, if there is none."""
    given["organisation"] = _organisation(office, given["organisation"])


def own_texts(given: dict[str, Any], task: Kind = "rate") -> ReviewTexts:
    """Return the words for reviewers, the organiser's own in their place."""
    language = given["language"]
    consent, guide = (
        {tag: _own_text(path, what) for tag, path in by_language(given[name], language, f"--{name}").items()}
        for name, what in (("consent", "the consent"), ("guide", "the guide"))
    )
    return texts_of(language, consent, guide, task, shows_words=given.get("second_look", False))


def by_language(named: Sequence[str], language: str, option: str) -> dict[str, Path]:
    """Read ``FILE`` and ``TAG=FILE`` as tag of a language → file; a bare file is in the review's language.

    UsageError where a language is named twice.
    """
    paths: dict[str, Path] = {}
    for named_path in named:
        before, sign, after = named_path.partition("=")
        tagged = sign and is_tag(before) and not Path(named_path).exists()
        tag, file = (before.replace("_", "-"), after) if tagged else (language, named_path)
        if tag in paths:
            raise UsageError(f"{option}: two files for the language {tag}. Name each language once: {option} es=FILE")
        paths[tag] = Path(file)
    return paths


def _own_text(path: Path, what: str) -> str:

    text, _ = read_text(path, what, 4 * _MOST_TEXT)
    if not 0 < len(text.strip()) <= _MOST_TEXT:
        raise UsageError(f"{path}: {what} needs between 1 and {_MOST_TEXT:,} characters.")
    return text.strip()


def _protection(
    office: Office, laptops: Sequence[LaptopCard], not_for: Collection[str], *, secret: bool, passphrases: bool
) -> Protection:
    """Return how the batch is sealed; a secret one goes to laptops that are known, but for those of ``not_for``, or is refused."""
    if laptops and passphrases:
        raise UsageError("Seal the batch for laptops (--for) or with --passphrases, not both.")
    if passphrases or not (secret or laptops):
        return Protection(passphrases=passphrases)
    chosen = _for_whom(office, laptops, not_for)
    recipients = tuple(recipient for _, recipient in chosen.values() if recipient)
    if not recipients:
        raise UsageError(
            "Secret sentences are only written sealed. Name the laptops that may open them "
            "(--for laptop.rosetta-laptop; `rosetta review enrol --card` writes it there), or add --passphrases."
        )
    return Protection(recipients)


def _for_whom(
    office: Office, laptops: Sequence[LaptopCard], not_for: Collection[str]
) -> dict[str, tuple[str, str | None]]:
    """Return the laptops that are named, else those that are known: signing key → name, and what to seal for."""
    if laptops:
        return {card.public.signing_key: (card.name, card.public.recipient) for card in laptops}
    return {
        laptop.signing_key: (laptop.name, laptop.recipient)
        for laptop in office.laptops()
        if laptop.removed is None and laptop.signing_key not in not_for
    }


def _say_for_whom(chosen: Mapping[str, tuple[str, str | None]]) -> None:
    """Name the laptops that will open the batch, and those known ones that will not."""

    for key, (name, recipient) in chosen.items():
        if recipient:
            message = f"Sealed for the laptop {name}: {key_phrase(key)}"
        else:
            message = (
                f"NOT sealed for the laptop {name} ({key_phrase(key)}): the key to seal for it is not known. Import "
                "a file of its ratings, or enrol it by its file (NAME.rosetta-laptop), then make the batch again."
            )
        click.echo(plain(message), err=True)


def _organisation(office: Office, given: str | None) -> str:
    """Return the organisation's name: as given, in the policy, or of the review before; else ask for it."""
    known = next((review.manifest.organisation.name for review in office.reviews()), "")
    if name := given or known:
        return name
    if sys.stdin.isatty():
        asked: str = click.prompt("Which organisation asks the speakers? The name by which they know you", err=True)
        return asked
    raise UsageError(
        "The organisation is missing. The speakers' cards and the consent need a name that they know: add "
        '--organisation "NAME OF YOUR COUNCIL". Later reviews take it from this one.'
    )


def _recipients(office: Office, identity: Identity, named: Sequence[str]) -> tuple[tuple[str, ...], RecoveryKey | None]:
    """Return the keys that open the ratings: this installation's, and those named or the recovery key."""
    own, others = identity.public.recipient, []
    for name in named:
        if Path(name).is_file():
            others += [key.recipient for key in read_age_identities(Path(name))]
        else:
            others.append(checked_recipient(name))
    if set(others) - {own}:
        return tuple(dict.fromkeys((own, *others))), None
    recovery = recovery_key(office, home() / "review-recovery-key.txt")
    return (own, recovery.recipient), recovery


def _say_recovery(key: RecoveryKey) -> None:
    if key.new is None:
        click.echo(f"Ratings can also be opened with the recovery key that was made on {key.made[:10]}.", err=True)
        return
    click.echo(plain(f"Made a recovery key: {key.place}"), err=True)
    click.echo(
        "Move this file off this computer and lock it away, on paper or a stick in a safe. With it ratings "
        "can be opened if this computer is lost: rosetta review import FILES --identity FILE",
        err=True,
    )


def _told(published: Published, making: Making) -> dict[str, Any]:
    """Return what was made as JSON values."""

    review = published.review
    return {
        "letters": letters_json(making.letters),
        "below_deployable": list(making.below_deployable),
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
        "task": review.manifest.task,
    }


def _next_steps(published: Published, folder: Path | None, *, passphrases: bool) -> Iterator[str]:
    """Yield what the organiser does now, and later."""
    review, cards = published.review, published.cards
    if review.manifest.second_of and not passphrases:
        yield "Next: people use the cards that they have; their codes are the same."
    else:
        yield f"Next: open {cards} in a browser, print it, cut it, and hand each card to one person."
    if passphrases:
        yield "Then delete it: its words open the files."
    if folder is None:
        yield "Copy the batch to each stick. With -o STICK, create fills a stick: START-HERE.html and the program for reviewers go along."
    else:
        lacking = [TITLES[system] for system in TITLES if system not in systems_on(folder)]
        yield f"For each further stick, copy everything in {folder} to it."
        if lacking:
            add = f"rosetta review bundle FILE -o {command_line([str(folder)])}"
            yield f"The stick has no program for {', '.join(lacking)}: `{add}` adds an archive, here and for every later review."
    yield f"Later: `rosetta review import STICK`, `rosetta review status {review.name}`."
