"""``rosetta review enrol``: Accept the laptop that an unknown set of ratings came from.

With ``--witness`` a second person signs that a laptop is a speaker's; the organisation keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from corpora.files.json_types import JsonObject
from harness.core.failures import UsageError
from harness.core.storage import private_folder
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review.certificates import as_key, kept_batch
from rosetta_tui.commands.review.ratings import report_json
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.sealed import keys, stick
    from harness.sealed import phrase as sealed_phrase
    from harness.store.sqlite import database
    from review.files import identities as reviewer_codes
    from review.files import identities as statements
    from review.office.intake import importing, speaking
    from review.office.results import progress
    from review.office.store import arrivals, store
    from review.office.store import review as store_review
    from rosetta_tui.review.organiser.words import imported


def write_witness(laptop: Sequence[str], organisation: str, *, as_json: bool) -> None:
    """Write, on the witness's own laptop, the statement about a laptop beside where one is."""
    if len(laptop) != 1:
        raise UsageError("Name the laptop that you saw: its file NAME.rosetta-laptop, or its key.")
    key, name = _laptop(laptop[0])
    identity = keys.Identity.load(private_folder(database.home()), keys.Role.LAPTOP)
    content = statements.write_statement(identity, key, _organisation(organisation))
    path = Path(f"{name}{statements.WITNESS_SUFFIX}")
    if path.exists() and not (path.is_file() and path.read_bytes() == content):
        raise UsageError(f"{path} is there already, and says something else. Move it away.")
    stick.write_file(path, content, stick.READABLE)
    document = {"file": str(path), "laptop": keys.key_phrase(key), "witness": identity.public.phrase}
    lines = (
        f"Written: {path}. You say by it that you saw the laptop {document['laptop']}",
        "with a person who was asked. Hand it to the organisation.",
        f"Your own six words, by which others can ask you: {identity.public.phrase}",
    )
    print_form("review-enrol-statement", document, lines, as_json=as_json)


def keep_witness(path: Path, *, as_json: bool) -> None:
    """Import a witness's statement, at the organisation's desk."""
    own = keys.Identity.load(database.home(), keys.Role.ORGANISATION).public.signing_key
    with store.Office.open(database.home()) as office:
        statement = office.keep_statement(stick.read_named(path), own)
        names = {laptop.signing_key: laptop.name for laptop in office.laptops()}
    name, phrase = names[statement.laptop], keys.key_phrase(statement.witness)
    lines = (
        f"Witnessed: {name}, by the person whose key has the words {phrase}.",
        "Certificates that are issued from now on count it.",
    )
    document = {"laptop": statement.laptop, "name": name, "witness": phrase}
    print_form("review-enrol-witness", document, lines, as_json=as_json)


def _laptop(named: str) -> tuple[str, str]:
    """Return the key of a laptop and a name for the file, by its card or its key."""
    if key := as_key(named):
        return key, key[:8]
    if not Path(named).is_file():
        raise UsageError(f"{named}: neither a laptop's file nor its key (64 hexadecimal digits). Name one.")
    path = Path(named)
    return statements.laptop_card_in(path).public.signing_key, path.stem


def _organisation(named: str) -> str:
    """Return the organisation's key: as it is, or as a batch of it has it."""
    if key := as_key(named):
        return key
    if not Path(named).is_file():
        raise UsageError(
            f"--witness {named}: name the organisation by its key (64 hexadecimal digits) or by a batch file of it."
        )
    return kept_batch(Path(named)).manifest.organisation.signing_key


MOST_REASON = 200
"""Characters of a reason: it is on certificates."""


@click.command("enrol")
@click.argument("laptop", nargs=-1, metavar="WORDS|KEY|FILE")
@click.option("--name", help="What the laptop is called; not a person's name.")
@click.option("--instead-of", metavar="LAPTOP", help="Name, six words or key of the laptop whose log it continues with: it broke, and its data was saved.")  # fmt: skip
@click.option("--speaks-for", metavar="CODE", help="Say that this laptop speaks for the person with CODE, where several do.")  # fmt: skip
@click.option("--with", "others", multiple=True, metavar="LAPTOP", help="With --speaks-for: another laptop at which the person sat as well.")  # fmt: skip
@click.option("--remove", is_flag=True, help="Take this laptop out: nothing that it says counts, and its files are refused.")  # fmt: skip
@click.option("--reason", default="", help="With --remove: why, in a few words without names; they are on certificates.")  # fmt: skip
@click.option("--undo", is_flag=True, help="With --remove: accept a laptop again that was taken out.")
@click.option("--identity", type=click.Path(path_type=Path), help="The recovery key, where its files needed that.")
@click.option("--card", type=click.Path(path_type=Path), is_flag=False, flag_value="laptop.rosetta-laptop", metavar="[NAME.rosetta-laptop]", help="On the laptop itself: write its file for the organisation, and show its six words.")  # fmt: skip
@click.option("--witness", metavar="KEY|BATCH", help="On a witness's own laptop: sign that LAPTOP (its file or key) is a speaker's, for the organisation with KEY or of BATCH.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def enrol_(
    laptop: Sequence[str],
    name: str | None,
    instead_of: str | None,
    speaks_for: str | None,
    others: Sequence[str],
    remove: bool,
    reason: str,
    undo: bool,
    identity: Path | None,
    card: Path | None,
    witness: str | None,
    as_json: bool,
) -> None:
    """Accept a laptop: its ratings that were set aside are taken, and all later ones.

    Name it by the six words that it showed when it wrote a waiting file of ratings, by its own six words (`rosetta
    review enrol --card` there shows them), by its key, or by its file NAME.rosetta-laptop, which the same command
    writes. With a file you can also seal secret batches for it before anything has come back.

    For a laptop that was accepted, given by its name, its six words or its key: --speaks-for CODE says that it is the
    one that speaks for a person, --remove takes it out. Both are written into the log of each review that it
    concerns.

    No file shows that a laptop is not the organisation's own. A second person who saw it with a speaker can say so:
    --witness writes NAME.rosetta-witness on that person's laptop, and the same command takes the file in here.
    """
    _check_together(speaks_for, others, remove, reason, undo, name, instead_of, card, witness)
    if bool(laptop) == (card is not None):
        raise UsageError(
            "Name one laptop: its six words, its key or its file. On the laptop itself, write its file with "
            "--card: `rosetta review enrol --card`."
        )
    if speaks_for is not None:
        _let_speak(laptop, others, speaks_for, as_json=as_json)
    elif witness is not None:
        write_witness(laptop, witness, as_json=as_json)
    elif laptop and laptop[0].endswith(statements.WITNESS_SUFFIX):
        keep_witness(Path(laptop[0]), as_json=as_json)
    elif remove:
        _take_out(laptop, reason, undo=undo, as_json=as_json)
    elif card is None:
        _accept(laptop, name, instead_of, identity, as_json=as_json)
    else:
        _write_card(card, name, as_json=as_json)


def _write_card(path: Path, name: str | None, *, as_json: bool) -> None:
    """Write this laptop's own card: public keys and what people call it."""
    identity = keys.Identity.load(private_folder(database.home()), keys.Role.LAPTOP)
    chosen = name or path.stem
    content = statements.write_laptop_card(identity, chosen)
    known = path.is_file() and path.read_bytes() == content
    if path.suffix != statements.SUFFIX or (path.exists() and not known):
        raise UsageError(f"{path}: the file of a laptop is a new one whose name ends in {statements.SUFFIX}.")
    stick.write_file(path, content, stick.READABLE)
    public = identity.public
    document = {"file": str(path), "name": chosen, "phrase": public.phrase}
    lines = (
        f"Written: {path}. It holds no secret; hand it to the organisation.",
        f"The six words of this laptop: {public.phrase}",
    )
    print_form("review-enrol-card", document | {"signing_key": public.signing_key}, lines, as_json=as_json)


def _accept(
    laptop: Sequence[str], name: str | None, instead_of: str | None, identity: Path | None, *, as_json: bool
) -> None:
    identities = keys.opening_identities(database.home(), identity)
    with store.Office.open(database.home()) as office:
        key, recipient, its_name = _found(office, laptop)
        chosen = name or its_name or _known_name(office, key) or arrivals.free_name(office)
        before = None if instead_of is None else _known_key(office, instead_of)
        reports = importing.enrol_laptop(office, key, chosen, recipient, identities, instead_of=before)
    document = {"signing_key": key, "phrase": keys.key_phrase(key), "name": chosen}
    lines = [f"Enrolled: {chosen} ({keys.key_phrase(key)})"]
    if its_name is not None:
        words = keys.key_phrase(key, earlier=True)
        lines.append(f"A laptop with an earlier version shows these words: {words}")
    lines += [line for report in reports for line in imported.report_lines(report)]
    imports = [report_json(report) for report in reports]
    print_form("review-enrol", document | {"imports": imports}, lines, as_json=as_json)


def _found(office: store.Office, laptop: Sequence[str]) -> tuple[str, str | None, str | None]:
    """Return signing key, recipient and name of the laptop that is meant."""
    first = laptop[0]
    if len(laptop) == 1 and (first.endswith(statements.SUFFIX) or Path(first).is_file()):
        card = statements.laptop_card_in(Path(first))
        return card.public.signing_key, card.public.recipient, card.name
    if len(laptop) == 1 and (key := as_key(first)):
        return key, None, None
    return _by_words(office, " ".join(laptop)), None, None


def _by_words(office: store.Office, typed: str) -> str:
    """Find the laptop whose files wait, by its six words or those of one of its files."""
    words = sealed_phrase.read_words(typed)
    for waiting_laptop in progress.waiting(office):
        if waiting_laptop.has(words):
            return waiting_laptop.signing_key
    listed = "; ".join(laptop.file_phrases[-1] for laptop in progress.waiting(office)) or "none"
    raise UsageError(
        f"No file with these words is waiting, and none of a laptop with these (files waiting: {listed}). "
        "Import the file first, and compare all six words."
    )


def _known_name(office: store.Office, key: str) -> str | None:
    names = (known.name for known in office.laptops() if known.signing_key == key)
    return next(names, None)


def _check_together(
    speaks_for: str | None, others: Sequence[str], remove: bool, reason: str, undo: bool, *rest: object
) -> None:
    """Refuse options that say nothing beside one another."""
    if bool(speaks_for) + remove + any(option is not None for option in rest) > 1:
        raise UsageError(
            "--speaks-for and --remove are said of a laptop that is accepted, each alone: without --name, "
            "--instead-of, --card and --witness; so is --witness."
        )
    if others and not speaks_for:
        raise UsageError("--with names a second laptop that speaks for a person: add --speaks-for CODE.")
    if (undo or reason) and not remove:
        raise UsageError("--undo and --reason belong to --remove.")
    if undo and reason:
        raise UsageError("--undo hears the laptop again; --reason says why it is taken out. Name one.")
    if remove and not undo and not reason.strip():
        raise UsageError('Say why with --reason "…": a few words without names. They are on certificates.')
    if len(reason) > MOST_REASON:
        raise UsageError(f"--reason: at most {MOST_REASON} characters.")


def _let_speak(laptop: Sequence[str], others: Sequence[str], code: str, *, as_json: bool) -> None:
    read = reviewer_codes.read_code(code)
    with store.Office.open(database.home()) as office:
        named = [_known(office, name) for name in (" ".join(laptop), *others)]
        found_people = [(review, who) for review in office.reviews() if (who := review.person(read))]
        if not found_people:
            raise UsageError(
                f"--speaks-for: no review has the code {reviewer_codes.printed(read)}. `rosetta review status` lists them."
            )
        with office.transaction():
            for review, person in found_people:
                speaking.let_speak(office, review, person, named)
    names = [known_laptop.name for known_laptop in named]
    reviews = [review.name for review, _ in found_people]
    document = {"code": read, "laptops": names, "reviews": reviews}
    line = (
        f"Noted in {', '.join(reviews)}: {' and '.join(names)} speak{'s' * (len(names) == 1)} for {reviewer_codes.printed(read)}. "
        "What other laptops say in this name does not count."
    )
    print_form("review-enrol-speaks-for", document, [line], as_json=as_json)


def _take_out(laptop: Sequence[str], reason: str, *, undo: bool, as_json: bool) -> None:
    with store.Office.open(database.home()) as office:
        meant = _known(office, " ".join(laptop))
        reviews = speaking.put_back(office, meant) if undo else speaking.take_out(office, meant, reason)
    document: JsonObject = {
        "name": meant.name,
        "signing_key": meant.signing_key,
        "heard": undo,
        "reason": reason,
        "reviews": reviews,
    }
    where = f" Noted in {', '.join(reviews)}." if reviews else ""
    lines = (
        f"Taken out: {meant.name}. Nothing that it says counts; its files are refused.{where}",
        "What was taken back on it stays taken back. Certificates that rest on it say what held then: issue them again.",
    )
    print_form(
        "review-enrol-remove",
        document,
        [f"Heard again: {meant.name}.{where}"] if undo else lines,
        as_json=as_json,
    )


def _known(office: store.Office, named: str) -> store_review.KnownLaptop:
    """Return an enrolled laptop by its name, its six words or its key."""
    key = _known_key(office, named, "")
    return next(laptop for laptop in office.laptops() if laptop.signing_key == key)


def _known_key(office: store.Office, named: str, option: str = "--instead-of: ") -> str:
    """Return the key of an enrolled laptop by its name, its six words or its key."""
    typed = " ".join(named.split()).lower()
    known = office.laptops()
    for known_laptop in known:
        if typed in {known_laptop.name.lower(), known_laptop.signing_key} or keys.says_key(
            typed, known_laptop.signing_key
        ):
            return known_laptop.signing_key
    listed = "; ".join(f"{laptop.name} ({keys.key_phrase(laptop.signing_key)})" for laptop in known) or "none"
    raise UsageError(f"{option}no laptop {named!r} is enrolled (enrolled: {listed}).")
