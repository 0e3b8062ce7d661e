"""``rosetta review enrol``: vouch for a laptop, once its six words were compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosetta_tui.text import json_text, plain

if TYPE_CHECKING:
    from review.office.store import Office

_KEY = re.compile(r"[0-9a-f]{64}")


@click.command("enrol")
@click.argument("laptop", nargs=-1, metavar="WORDS|KEY|FILE")
@click.option("--name", help="What the laptop is called; not a person's name.")
@click.option("--instead-of", metavar="LAPTOP", help="Name, six words or key of the laptop whose log it goes on with: it broke, and its data was saved.")  # fmt: skip
@click.option("--identity", type=click.Path(path_type=Path), help="Recovery key, where that opened its files.")  # fmt: skip
@click.option("--card", type=click.Path(path_type=Path), is_flag=False, flag_value="laptop.rosetta-laptop", metavar="[NAME.rosetta-laptop]", help="On the laptop itself: write its file for the organisation, and show its six words.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def enrol_(
    laptop: Sequence[str],
    name: str | None,
    instead_of: str | None,
    identity: Path | None,
    card: Path | None,
    as_json: bool,
) -> None:
    """Accept a laptop: the ratings of it that were set aside are taken, and all later ones.

    Name it by the six words that it showed when it wrote a file of ratings that waits, by its own six words
    (`rosetta review enrol --card` there shows them), by its key, or by its file NAME.rosetta-laptop, which
    the same command writes. A file also lets you seal secret batches for it before anything came back.
    """
    from harness.failures import UsageError

    if bool(laptop) == (card is not None):
        raise UsageError(
            "Name one laptop: its six words, its key or its file. On the laptop itself, write its file with "
            "--card: `rosetta review enrol --card`."
        )
    if card is None:
        _accept(laptop, name, instead_of, identity, as_json=as_json)
    else:
        _write_card(card, name, as_json=as_json)


def _write_card(path: Path, name: str | None, *, as_json: bool) -> None:
    """Write this laptop's own card: public keys and what people call it."""
    from harness.failures import UsageError
    from harness.store.database import home, private_folder
    from review.files.keys import Identity, Role
    from review.files.laptop_card import SUFFIX, write_laptop_card
    from review.files.stick import write_file

    identity = Identity.load(private_folder(home()), Role.LAPTOP)
    chosen = name or path.stem
    content = write_laptop_card(identity, chosen)
    known = path.is_file() and path.read_bytes() == content
    if path.suffix != SUFFIX or (path.exists() and not known):
        raise UsageError(f"{path}: the file of a laptop is a new one whose name ends in {SUFFIX}.")
    write_file(path, content)
    told = {"file": str(path), "name": chosen, "phrase": identity.public.phrase}
    if as_json:
        click.echo(json_text(told | {"signing_key": identity.public.signing_key}))
        return
    click.echo(plain(f"Written: {path}. It holds no secret; hand it to the organisation."))
    click.echo(f"The six words of this laptop: {identity.public.phrase}")


def _accept(
    laptop: Sequence[str],
    name: str | None,
    instead_of: str | None,
    identity: Path | None,
    *,
    as_json: bool,
) -> None:
    from harness.store.database import home
    from review.files.keys import key_phrase, opening_identities
    from review.office.arrivals import free_name
    from review.office.importing import enrol_laptop
    from review.office.store import Office
    from rosetta_tui.commands.review.import_ import report_json
    from rosetta_tui.review.import_words import report_lines

    identities = opening_identities(home(), identity)
    with Office.open(home()) as office:
        key, recipient, its_name = _found(office, laptop)
        chosen = name or its_name or _known_name(office, key) or free_name(office)
        before = None if instead_of is None else _known_key(office, instead_of)
        reports = enrol_laptop(office, key, chosen, recipient, identities, instead_of=before)
    if as_json:
        told = {"signing_key": key, "phrase": key_phrase(key), "name": chosen}
        click.echo(json_text(told | {"imports": [report_json(each) for each in reports]}))
        return
    click.echo(plain(f"Enrolled: {chosen} ({key_phrase(key)})"))
    for report in reports:
        for line in report_lines(report):
            click.echo(plain(line))


def _found(office: Office, laptop: Sequence[str]) -> tuple[str, str | None, str | None]:
    """Give signing key, recipient and name of the laptop that is meant."""
    from review.files.laptop_card import SUFFIX, read_laptop_card
    from review.files.stick import read_file

    first = laptop[0]
    if len(laptop) == 1 and (first.endswith(SUFFIX) or Path(first).is_file()):
        card = read_laptop_card(read_file(Path(first)))
        return card.public.signing_key, card.public.recipient, card.name
    if len(laptop) == 1 and _KEY.fullmatch(first.lower()):
        return first.lower(), None, None
    return _by_words(office, " ".join(laptop)), None, None


def _by_words(office: Office, typed: str) -> str:
    """Find the laptop whose files wait, by its six words or those of one of its files."""
    from harness.failures import UsageError
    from review.files.phrase import read_words
    from review.office.progress import waiting

    words = read_words(typed)
    for each in waiting(office):
        if each.has(words):
            return each.signing_key
    listed = "; ".join(each.phrase for each in waiting(office)) or "none"
    raise UsageError(
        f"No file with these words is waiting, and none of a laptop with these (laptops waiting: {listed}). "
        "Import the file first, and compare all six words."
    )


def _known_name(office: Office, key: str) -> str | None:
    names = (known.name for known in office.laptops() if known.signing_key == key)
    return next(names, None)


def _known_key(office: Office, named: str) -> str:
    """Give the key of an enrolled laptop by its name, its six words or its key."""
    from harness.failures import UsageError
    from review.files.keys import key_phrase

    typed = " ".join(named.split()).lower()
    known = office.laptops()
    for each in known:
        if typed in {each.name.lower(), key_phrase(each.signing_key), each.signing_key}:
            return each.signing_key
    listed = "; ".join(f"{each.name} ({key_phrase(each.signing_key)})" for each in known) or "none"
    raise UsageError(f"--instead-of: no laptop {named!r} is enrolled (enrolled: {listed}).")
