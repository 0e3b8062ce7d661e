"""``rosetta review serve``: Let people rate in the browsers of their phones, over a network of your own."""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import click

from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import storage
    from harness.sealed import phrase, sealing, stick
    from harness.store.sqlite import database
    from review.browser import hall as review_hall
    from review.browser import page as review_page
    from review.files import batch as batch_file
    from review.office.store import store
    from rosetta_tui.html import stick_pages

_FILE = click.Path(path_type=Path)
_PORT = 8033


@click.command("serve")
@click.argument("batch", type=_FILE)
@click.option(
    "--on", "address", metavar="ADDRESS", help="This computer's address in the phones' network, such as 192.168.43.1."
)
@click.option("--port", default=_PORT, show_default=True, type=click.IntRange(0, 65535), help="Port of the address.")
@click.option(
    "--into", type=_FILE, metavar="FOLDER", help="Folder of the answers. Default: in halls/ in your data folder."
)
def serve(batch: Path, address: str | None, port: int, into: Path | None) -> None:
    """Serve the page of BATCH to phones on your own hotspot, and keep what they answer, until you end it.

    Each person opens a link with their phone's camera: a page for printing and this terminal show the picture. Answers
    are sealed for your organisation in the phone. Who is on the same network could replace the page: use a hotspot of
    your own with a password, and nothing that is secret: batches of secret segments are refused (docs/serve.md).
    """
    data = stick.read_named(batch)
    given, people = _of_ours(data, batch)
    host = own_address(address)
    name = given.manifest.review
    folder = into or database.home() / "halls" / name
    hall = review_hall.Hall.open(folder, given.sha256, people)
    page = review_page.make_page(data, given, hall=True)
    with _socket(host, port) as listening:
        url = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        cards = storage.private_folder(database.home() / "review-cards") / f"{name}-hall.html"
        _write_cards(cards, hall, url, given)
        for line in (
            f"Serving {given.manifest.title} at {url} until you press Ctrl-C.",
            f"Six words of the page: {phrase.phrase(sha256(page).hexdigest())}.",
            f"Pictures of the links, for printing or this screen: {cards} (it stays off the stick)",
            f"Answers are kept in {folder}.",
        ):
            click.echo(plain(line))

        def typed(line: str) -> None:
            for answer in _answered(line.split(), hall, url):
                click.echo(answer)
            _write_cards(cards, hall, url, given)

        hall.changed = lambda seat: click.echo(f"Person {seat.number}: {_state(seat)}")
        if sys.stdin.isatty():
            click.echo("A number and Enter: the link of this person as a picture. `free` and a number: the seat for another phone.")  # fmt: skip
        with suppress(KeyboardInterrupt):
            review_hall.run(hall, page, listening, typed)
    click.echo(plain(_ended(hall)))


def _of_ours(data: bytes, path: Path) -> tuple[batch_file.Batch, list[str]]:
    """Return the batch, and the codes of the people whom it asks; UsageError where it may not be served."""
    if sealing.lock_of(data) is not None:
        raise UsageError(f"{path} is sealed: what is secret never goes over a network. Hand out files or pages instead.")  # fmt: skip
    given = batch_file.open_batch(data)
    with store.Office.open(database.home()) as office:
        review = office.review_of_batch(given.manifest.batch)
    if review is None:
        raise UsageError(f"{path} is no batch of this computer's: the codes of its people are where it was made.")
    return given, [review.code(person) for person in review.key.orders if given.person(review.code(person)) is not None]


def own_address(named: str | None) -> str:
    """Return an address of a network of one's own; UsageError, with those that are here, for none or another."""
    here = ", ".join(addresses_here()) or "none: start the hotspot first"
    if named is None:
        raise UsageError(f"Name the address that the phones reach with --on ADDRESS. Here: {here}.")
    try:
        address = ipaddress.ip_address(named.partition("%")[0])
    except ValueError:
        raise UsageError(f"--on {named}: no address. Here: {here}.") from None
    if address.is_unspecified or not (address.is_private or address.is_link_local):
        raise UsageError(
            f"--on {named}: not an address of a private network, so strangers could reach it. Here: {here}."
        )
    return named


def addresses_here() -> list[str]:
    """Return this computer's addresses in private networks, as far as the system tells; nothing is sent."""
    addresses = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.connect(("192.168.255.254", 9))  # connecting a datagram's socket only chooses the interface
        addresses.add(asking.getsockname()[0])
    return sorted(
        address for address in addresses if ipaddress.ip_address(address).is_private and not address.startswith("127.")
    )


def _socket(host: str, port: int) -> socket.socket:
    """Return what listens at an address; UsageError where the system refuses."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise UsageError(f"{host} port {port} cannot be used: {error.strerror or error}. Choose another with --on or --port.") from None  # fmt: skip


def _answered(words: list[str], hall: review_hall.Hall, url: str) -> Iterator[str]:
    """Carry out what a line at the terminal asks for, and yield what came of it."""
    number = words[-1] if words else ""
    if not (
        number.isascii() and number.isdigit() and 1 <= int(number) <= len(hall.seats) and words[:-1] in ([], ["free"])
    ):
        yield from (f"Person {seat.number}: {_state(seat)}" for seat in hall.seats)
        return
    seat = hall.seats[int(number) - 1]
    if words[:-1]:
        hall.free(seat.number)
        yield f"Person {number} has a new link; the phone before cannot send any more. What it sent stays."
    yield stick_pages.terminal_picture(seat.link(url))
    yield seat.link(url)


def _state(seat: review_hall.Seat) -> str:
    if not seat.phone:
        return "not here yet"
    return f"here, {seat.answers} answers" if seat.files else "here, no answer yet"


def _write_cards(path: Path, hall: review_hall.Hall, url: str, given: batch_file.Batch) -> None:
    links = [(seat.number, seat.code, seat.link(url)) for seat in hall.seats]
    text = stick_pages.hall_cards(given.manifest.title, given.manifest.organisation.name, links)
    storage.write_file(path, text.encode(), overwrite=True)


def _ended(hall: review_hall.Hall) -> str:
    sent = hall.newest()
    if not sent:
        return "Ended. Nobody sent an answer."
    return f"Ended. {len(sent)} of {len(hall.seats)} people sent answers. Take them in: rosetta review import {hall.folder}"
