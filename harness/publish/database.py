"""Cards in a PostgreSQL database: its tables brought up to date, what is new sent, and all of it read again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from harness.core.failures import UsageError
from harness.core.installation import install_line
from harness.core.version import VERSION
from harness.publish.cards import OutgoingCard
from harness.publish.place import DatabasePlace, PublishError

try:
    import psycopg
    from psycopg import errors
    from psycopg.conninfo import make_conninfo
except ImportError:  # psycopg alone, without the libpq that its binary brings, says so too
    raise UsageError(
        f"Cards go into a database by the library psycopg, which is not installed here. Install it beside the program: {install_line('psycopg[binary]')}"
    ) from None

OLDEST_SERVER: Final = 140000
"""PostgreSQL 14 is the first whose functions can be bound when they are made."""

BATCH_BYTES: Final = 16 * 1024 * 1024  # Cards of about that many bytes are sent in one transaction

LOCK: Final = 0x726F7365747461
"""Number of the advisory lock under which tables are made and changed: ``rosetta`` in ASCII."""

_CERTIFICATE: Final = "If the server is yours, or its operator made its certificate, add ?sslmode=verify-full&sslrootcert=FILE with the operator's certificate. "
_SQL: Final = Path(__file__).with_name("sql")


def migrations() -> dict[int, str]:
    """Return the steps that make the tables, by number from 1: the files of the folder ``sql``."""
    return {int(path.name[:4]): path.read_text("utf-8") for path in sorted(_SQL.glob("*.sql"))}


@contextmanager
def opened_database(place: DatabasePlace) -> Iterator[PublishedDatabase]:
    """Connect until the block ends; within it what the server or the line does wrong is a PublishError without the password.

    Raises PublishError where the server cannot be reached, is too old, or keeps texts in another form than UTF-8.
    """
    place.require_open_door()
    with _worded(place):
        password = place.found_password()
        parameters = {"client_encoding": "UTF8", "application_name": "rosetta", **place.parameters}
        if password is not None:
            parameters["password"] = password
        connection = psycopg.connect(
            make_conninfo("", **parameters),
            autocommit=True,
            prepare_threshold=None,  # a pooler gives each transaction another server process
        )
        with connection:
            server_version = connection.info.server_version
            if server_version < OLDEST_SERVER:
                raise PublishError(
                    f"{place} runs PostgreSQL {server_version // 10000}; published cards need {OLDEST_SERVER // 10000} or newer."
                )
            encoding = connection.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                raise PublishError(
                    f"{place} keeps its texts as {encoding}, which has not all letters. Publish to a database that was made with ENCODING 'UTF8'."
                )
            with suppress(psycopg.Error):  # a pooler's server process may have had temporary tables
                connection.execute("SET temp_buffers = '48MB'")  # a batch stays in memory
            yield PublishedDatabase(connection, place)


class PublishedDatabase:
    """A database that is connected."""

    def __init__(self, connection: psycopg.Connection[Any], place: DatabasePlace) -> None:
        self._connection = connection
        self._place = place

    def prepare(self, *, to_add: bool = False) -> int:
        """Make the tables, or bring them up to date, and return how many steps that took; PublishError where a newer Rosetta made them.

        Several at once wait for each other; what fails leaves everything as it was. ``to_add``: only cards are to be
        put there, for which older tables do if their owner is another role; its next step fills their columns.
        """
        steps = migrations()
        version = self._version(max(steps))
        if version == max(steps) or (to_add and version and not self._owned()):
            return 0
        with self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            self._connection.execute("SET LOCAL search_path = public, pg_temp")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS rosetta_schema (version integer PRIMARY KEY,"
                " applied_at timestamptz NOT NULL DEFAULT now(), rosetta text NOT NULL)"
            )
            version = self._version(max(steps))
            todo = {number: text for number, text in steps.items() if number > version}
            for number, text in todo.items():
                self._connection.execute(text.encode())
                self._connection.execute(
                    "INSERT INTO rosetta_schema (version, rosetta) VALUES (%s, %s)", (number, VERSION)
                )
        return len(todo)

    def known(self, hashes: Collection[str]) -> set[str]:
        """Return which of these cards are there."""
        rows = self._connection.execute(
            "SELECT card_hash FROM public.run_cards WHERE card_hash = ANY(%s)", (list(hashes),)
        )
        return {row[0] for row in rows}

    def add(self, cards: Sequence[OutgoingCard], told: Callable[[int], None] = lambda _: None) -> int:
        """Send cards and return how many were new; ``told`` hears how many are there after each transaction.

        They go in the order of their hashes, so that two who publish at once never wait for each other in a circle. Raises
        PublishError where the connection is lost: what was reported is there, and the same again sends the rest.
        """
        new = done = 0
        for batch in _batches(sorted(cards, key=lambda card: card.hash)):
            new += self._send(batch)
            done += len(batch)
            told(done)
        return new

    def _send(self, batch: Sequence[OutgoingCard]) -> int:
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(
                "CREATE TEMPORARY TABLE incoming (place integer, card_bytes bytea, may_publish text) ON COMMIT DROP"
            )
            # it is compressed once, where it stays
            cursor.execute("ALTER TABLE incoming ALTER card_bytes SET STORAGE EXTERNAL")
            with cursor.copy("COPY pg_temp.incoming FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(["int4", "bytea", "text"])
                for place, outgoing_card in enumerate(batch):
                    copy.write_row((place, outgoing_card.data, outgoing_card.may_publish))
            cursor.execute(
                "INSERT INTO public.run_cards (card_bytes, may_publish)"
                " SELECT card_bytes, may_publish FROM pg_temp.incoming ORDER BY place ON CONFLICT DO NOTHING"
            )
            return cursor.rowcount

    def cards(self) -> Iterator[tuple[str, bytes]]:
        """Yield hash and bytes of each card, the first published first, in one state of the database."""
        self._require_tables()
        with self._connection.transaction(), self._connection.cursor("cards") as cursor:
            self._connection.execute("SET TRANSACTION READ ONLY")
            cursor.itersize = 8  # a card may have 128 MiB
            cursor.execute("SELECT card_hash, card_bytes FROM public.run_cards ORDER BY published_at, card_hash")
            yield from cursor

    def changed(self) -> list[str]:
        """Return the hashes of cards of which a column says other than their bytes: somebody changed it past the tables' own rules."""
        self._require_tables()
        rows = self._connection.execute(
            "SELECT card_hash FROM public.run_cards AS r WHERE r IS DISTINCT FROM public.rosetta_filled(r) ORDER BY card_hash"
        )
        return [row[0] for row in rows]

    def _version(self, newest: int) -> int:
        """Return which step made the tables last, 0 where there are none; PublishError for one that is not known here."""
        [there] = self._row("SELECT to_regclass('public.rosetta_schema') IS NOT NULL")
        if not there:
            return 0
        [version] = self._row("SELECT coalesce(max(version), 0) FROM public.rosetta_schema")
        if version > newest:
            raise PublishError(
                f"The tables of {self._place} have version {version}, made by a newer Rosetta; this one, {VERSION}, knows them up to {newest}. "
                "Nothing was changed. Install the newer Rosetta."
            )
        return int(version)

    def _owned(self) -> bool:
        """Return whether this role may change the tables."""
        query = "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'public.run_cards'::regclass"
        return bool(self._row(query)[0])

    def _require_tables(self) -> None:
        if not self._version(max(migrations())):
            raise PublishError(f"{self._place} has no published cards: the tables are not there.")

    def _row(self, query: str) -> tuple[Any, ...]:
        row = self._connection.execute(query.encode()).fetchone()
        assert row is not None  # noqa: S101  each of these questions has one row
        return tuple(row)


def _batches(cards: Sequence[OutgoingCard]) -> Iterator[list[OutgoingCard]]:
    batch: list[OutgoingCard] = []
    size = 0
    for card in cards:
        batch.append(card)
        size += len(card.data)
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@contextmanager
def _worded(place: DatabasePlace) -> Iterator[None]:
    """Return what a server or the library says in words, without the password and without the row that was refused."""
    try:
        yield
    except errors.InsufficientPrivilege as error:
        raise PublishError(
            f"{place} does not let this role do that ({place.hidden(error.diag.message_primary or '')}). Anyone who owns the database makes "
            "the tables first (rosetta publish --prepare --to …) and gives the role its rights (docs/publishing.md)."
        ) from None
    except psycopg.OperationalError as error:
        message = place.hidden(error.diag.message_primary or str(error)).rstrip(".?")
        raise PublishError(
            f"{place} cannot be reached, or the connection was lost: {message}. {_CERTIFICATE if 'certificate' in message else ''}Nothing is "
            "half done: give the same command again, and what is there already is not sent twice."
        ) from None
    except psycopg.Error as error:
        message = place.hidden(error.diag.message_primary or type(error).__name__)
        raise PublishError(f"{place} refused it: {message}. Nothing is half done.") from None
