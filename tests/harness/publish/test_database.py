"""Cards in a real PostgreSQL: what is stored of them, what is sent again, who may do what, and what breaks."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.card.model import card_hash
from harness.core.failures import UsageError
from harness.publish.cards import OutgoingCard, columns, published_hash, taken
from harness.publish.place import DatabasePlace, PublishError, place_of
from harness.store.sqlite.schema import CARD_FIELDS, TEXTS
from tests.harness.publish.conftest import Server, changed, server, several
from tests.review.thorough import times

if TYPE_CHECKING:
    from harness.publish.database import PublishedDatabase

__all__ = ["server"]


@contextmanager
def opened(server: Server, name: str, user: str = "owner") -> Iterator[PublishedDatabase]:
    from harness.publish.database import opened_database

    found = place_of(server.url(name, user))
    assert isinstance(found, DatabasePlace)
    with opened_database(found) as database:
        yield database


def rows(server: Server, name: str, query: str, user: str = "postgres") -> list[Any]:
    with closing(server.connect(name, user)) as connection:
        found: list[Any] = connection.execute(query).fetchall()
        return found


@pytest.fixture
def name(server: Server) -> str:
    """A database with the tables and nothing in them."""
    made = server.database()
    with opened(server, made) as database:
        assert (database.prepare(), database.prepare()) == (2, 0)
    return made


def real(value: float) -> float:
    """The nearest number that a ``real`` holds, by the standard of IEEE 754."""
    (found,) = struct.unpack("f", struct.pack("f", value))
    return float(found)


class TestRows:
    def test_columns_are_the_card_s(self, server: Server, name: str, card: OutgoingCard) -> None:
        with opened(server, name) as database:
            assert database.add([card]) == 1
            assert list(database.cards()) == [(card.hash, card.data)]
        stated = json.loads(card.data)
        assert card.hash == stated["run_card_hash"] == card_hash(stated)
        [row] = rows(server, name, f"SELECT {', '.join(CARD_FIELDS)} FROM run_cards")
        for found, (column, value) in zip(row, columns(stated).items(), strict=True):
            alike = (real(found), real(value)) if isinstance(value, float) else (found, value)
            assert alike[0] == alike[1], column
        assert row[2] is not None
        facts = "SELECT run_card, may_publish, submitted_by FROM run_cards"
        [[whole, words, by]] = rows(server, name, facts)
        assert whole == stated
        assert (words, by) == (card.may_publish, "owner")

    def test_types_and_indexes_are_specified(self, server: Server, name: str) -> None:
        known = "information_schema.columns WHERE table_name = 'run_cards'"
        types = dict(rows(server, name, f"SELECT column_name, data_type FROM {known}"))
        for column in CARD_FIELDS:
            assert types[column] == ("text" if column in TEXTS else "real"), column
        assert (types["run_card"], types["card_bytes"]) == ("jsonb", "bytea")
        indexes = {row[0] for row in rows(server, name, "SELECT indexname FROM pg_indexes")}
        assert indexes >= {"idx_composite", "idx_leaderboard", "idx_model", "idx_fingerprint"}

    def test_jsonb_shows_control_signs(self, server: Server, name: str, card: OutgoingCard) -> None:
        signs = {"a\0b\0\0": "a␀b␀␀", "\\u0000": "\\u0000", "\\\0": "\\␀"}
        signs["\x1b[31m\u202e\x7f"] = "\x1b[31m\u202e\x7f"
        for place, (text, in_jsonb) in enumerate(signs.items()):
            odd = changed(several(card, place + 1)[place], model_slug=text)
            with opened(server, name) as database:
                database.add([odd])
                data = dict(database.cards())[odd.hash]
                assert database.changed() == []
            assert json.loads(data)["model_slug"] == text
            assert odd.hash == published_hash(data, json.loads(data))
            shown = f"SELECT run_card ->> 'model_slug', model_slug FROM run_cards WHERE card_hash = '{odd.hash}'"
            assert rows(server, name, shown) == [(in_jsonb, in_jsonb)]
        numbers = (
            (1e300, None), (1e-300, 0.0), ("0.5", None), (None, None), (-3.5, -3.5), (True, None),
        )  # fmt: skip
        with opened(server, name) as database:
            cards = several(card, len(numbers))
            for each, (composite, in_real) in zip(cards, numbers, strict=True):
                scores = {**json.loads(card.data)["scores"], "composite": composite}
                made = changed(each, scores=scores, model_slug="x" * 9000)
                database.add([made])
                query = f"SELECT composite_score FROM run_cards WHERE card_hash = '{made.hash}'"
                assert rows(server, name, query) == [(in_real,)]

    def test_forged_bytes_hash_anew(self, server: Server, name: str, card: OutgoingCard) -> None:
        forged = OutgoingCard(card.data.replace(b'"condition":"made"', b'"condition":"best"'))
        assert forged.hash == sha256(forged.data).hexdigest() != card.hash
        with opened(server, name) as database:
            database.add([forged])
            assert (database.known([card.hash]), database.add([card])) == (set(), 1)
            assert database.known([card.hash, forged.hash]) == {card.hash, forged.hash}


class TestAgain:
    def test_cards_are_not_doubled(self, server: Server, name: str, card: OutgoingCard) -> None:
        cards = several(card, 7)
        with opened(server, name) as database:
            assert database.add(cards[:4]) == 4
            assert database.known([each.hash for each in cards]) == {c.hash for c in cards[:4]}
            assert (database.add(cards), len(list(database.cards()))) == (3, 7)

    def test_two_at_once_put_each_card_there_once(
        self, server: Server, name: str, card: OutgoingCard, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from harness.publish import database as module

        monkeypatch.setattr(module, "BATCH_BYTES", 1)
        cards, start = several(card, times(20, 300)), threading.Barrier(2)
        found: list[int] = []

        def one(mine: list[OutgoingCard]) -> None:
            with opened(server, name) as database:
                start.wait()
                found.append(database.add(mine))

        with ThreadPoolExecutor() as pool:
            list(pool.map(one, (cards, cards[::-1])))
        assert sum(found) == len(cards) == len(found) * len(cards) // 2
        assert rows(server, name, "SELECT count(*) FROM run_cards") == [(len(cards),)]

    def test_two_at_once_make_the_tables_once(self, server: Server) -> None:
        made, start, steps = server.database(), threading.Barrier(2), list[int]()

        def one(_: int) -> None:
            with opened(server, made) as database:
                start.wait()
                steps.append(database.prepare())

        with ThreadPoolExecutor() as pool:
            list(pool.map(one, range(2)))
        assert sorted(steps) == [0, 2]

    def test_tables_of_the_first_step_are_brought_up_to_date(
        self, server: Server, card: OutgoingCard, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from harness.publish import database as module

        made, steps = server.database(), module.migrations()
        sound, false, late = several(card, 3)
        with monkeypatch.context() as before, opened(server, made) as database:
            before.setattr(module, "migrations", lambda: {1: steps[1]})
            assert (database.prepare(), database.add([sound, false])) == (1, 2)
        with closing(server.connect(made)) as connection:
            connection.execute("ALTER TABLE run_cards DISABLE TRIGGER fill_run_card")
            connection.execute("UPDATE run_cards SET chrf_plus_plus = 99 WHERE card_hash = %s", [false.hash])
            connection.execute("ALTER TABLE run_cards ENABLE TRIGGER fill_run_card")
            connection.execute("DO $$BEGIN CREATE ROLE bob LOGIN; EXCEPTION WHEN duplicate_object THEN END$$")
            connection.execute("GRANT SELECT ON rosetta_schema, run_cards TO bob; GRANT INSERT ON run_cards TO bob")
        with opened(server, made, "bob") as database:  # who does not own the tables uses them as they are
            assert (database.prepare(to_add=True), database.add([late])) == (0, 1)
            assert database.changed() == [false.hash]
        with pytest.raises(PublishError, match="does not let this role"), opened(server, made, "bob") as database:
            database.prepare()
        with opened(server, made) as database:
            assert (database.prepare(to_add=True), database.changed()) == (1, [false.hash])
        found = dict(rows(server, made, "SELECT card_hash, ter FROM run_cards"))
        told = columns(card.card)["ter"]
        assert found == {sound.hash: pytest.approx(told), late.hash: pytest.approx(told), false.hash: None}

    def test_lost_connection_is_named_and_the_rest_sent(
        self, server: Server, name: str, card: OutgoingCard, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from harness.publish import database as module

        monkeypatch.setattr(module, "BATCH_BYTES", 1)
        cards = several(card, 5)

        def cut(done: int) -> None:
            if done == 3:
                ours = "pg_stat_activity WHERE application_name = 'rosetta'"
                rows(server, name, f"SELECT pg_terminate_backend(pid) FROM {ours}")

        with pytest.raises(PublishError, match=r"connection was lost.*is not sent twice"), opened(server, name) as database:  # fmt: skip
            database.add(cards, cut)
        assert rows(server, name, "SELECT count(*) FROM run_cards") == [(3,)]
        with opened(server, name) as database:
            assert database.add(cards) == 2

    def test_failed_batch_leaves_none(self, server: Server, name: str, card: OutgoingCard) -> None:
        with pytest.raises(PublishError, match="refused it: invalid input syntax"), opened(server, name) as database:
            database.add([*several(card, 2), _NoCard(b"no card", None)])
        assert rows(server, name, "SELECT count(*) FROM run_cards") == [(0,)]


class _NoCard(OutgoingCard):
    hash = "f" * 64


class TestServers:
    def test_newer_tables_are_refused(self, server: Server, name: str, tmp_path: Path) -> None:
        rows(server, name, "INSERT INTO rosetta_schema VALUES (99, now(), '9.9') RETURNING 1")
        with pytest.raises(PublishError, match="version 99, made by a newer Rosetta"), opened(server, name) as database:
            database.prepare()
        with pytest.raises(PublishError, match="newer Rosetta"), opened(server, name) as database:
            list(database.cards())
        assert rows(server, name, "SELECT count(*) FROM run_cards") == [(0,)]
        made = server.database()
        with closing(server.connect(made)) as connection:
            connection.execute("CREATE TABLE run_cards (mine text)")
        with pytest.raises(PublishError, match='relation "run_cards" already exists'), opened(server, made) as database:
            database.prepare()
        assert rows(server, made, "SELECT to_regclass('rosetta_schema')::text") == [(None,)]
        made = server.database()
        with closing(server.connect(made)) as connection:
            connection.execute("CREATE ROLE guest LOGIN")
            connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        with pytest.raises(PublishError, match="Anyone who owns the database makes the tables first"), opened(server, made, "guest") as database:  # fmt: skip
            database.prepare()
        with pytest.raises(PublishError, match="cannot be reached"), opened(Server(tmp_path), "x"):
            pass
        with pytest.raises(PublishError, match="no published cards"), opened(server, server.database()) as database:
            list(database.cards())
        made = server.database("ENCODING 'LATIN1'", "TEMPLATE template0")
        with pytest.raises(PublishError, match="as LATIN1"), opened(server, made):
            pass


class TestRights:
    """Two real roles; ``rosetta_submitter`` is known to the migration, ``ann`` got its rights by hand as docs/publishing.md says."""

    @pytest.fixture
    def name(self, server: Server) -> str:
        made = server.database()
        with closing(server.connect(made)) as connection:
            for role in ("rosetta_reader", "rosetta_submitter", "ann"):
                if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone():
                    connection.execute(f"CREATE ROLE {role} LOGIN")
        with opened(server, made) as database:
            database.prepare()
        with closing(server.connect(made)) as connection:
            connection.execute("GRANT SELECT ON rosetta_schema TO ann")
            connection.execute("GRANT SELECT, INSERT ON run_cards TO ann")
        return made

    def refused(self, server: Server, name: str, user: str, query: str) -> None:
        import psycopg

        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            rows(server, name, query, user)

    @pytest.mark.parametrize("user", ["rosetta_submitter", "ann"])
    def test_submitter_adds_alone(self, server: Server, name: str, card: OutgoingCard, user: str) -> None:
        with opened(server, name, user) as database:
            assert (database.prepare(), database.add([card]), database.add([card])) == (0, 1, 0)
        assert rows(server, name, "SELECT submitted_by FROM run_cards") == [(user,)]
        other = several(card, 1)[0].data.hex()
        insert = "INSERT INTO run_cards (card_bytes{}) VALUES ('\\x{}'{}) RETURNING 1"
        self.refused(server, name, user, insert.format(", submitted_by", other, ", 'owner'"))
        self.refused(server, name, user, insert.format(", is_public", other, ", false"))
        self.refused(server, name, user, "UPDATE run_cards SET condition = 'mine' RETURNING 1")
        self.refused(server, name, user, "DELETE FROM run_cards RETURNING 1")
        self.refused(server, name, user, "TRUNCATE run_cards")

    def test_no_policy_changes_a_row(self, server: Server, name: str, card: OutgoingCard) -> None:
        with closing(server.connect(name)) as connection:
            connection.execute("GRANT UPDATE, DELETE ON run_cards TO ann")
        with opened(server, name, "ann") as database:
            database.add([card])
        assert rows(server, name, "UPDATE run_cards SET condition = 'x' RETURNING 1", "ann") == []
        assert rows(server, name, "DELETE FROM run_cards RETURNING 1", "ann") == []

    def test_stated_columns_count_not(self, server: Server, name: str, card: OutgoingCard) -> None:
        stated = "card_bytes, composite_score, card_hash, run_card, published_at"
        values = f"'\\x{card.data.hex()}', 0.99, 'mine', '{{}}', '2001-01-01'"
        insert = f"INSERT INTO run_cards ({stated}) VALUES ({values}) RETURNING 1"
        rows(server, name, insert, "ann")
        [[score, hash_, old]] = rows(server, name, "SELECT composite_score, card_hash, published_at < '2020-01-01' FROM run_cards")  # fmt: skip
        told = json.loads(card.data)["scores"]["composite"]
        assert (real(score), hash_, old) == (real(told), card.hash, False)

    def test_reader_adds_nothing(self, server: Server, name: str, card: OutgoingCard) -> None:
        cards = several(card, 2)
        with opened(server, name) as database:
            database.add(cards)
        which = f"card_hash = '{cards[0].hash}'"
        rows(server, name, f"UPDATE run_cards SET is_public = false WHERE {which} RETURNING 1")
        with opened(server, name, "rosetta_reader") as database:
            assert list(database.cards()) == [(cards[1].hash, cards[1].data)]
            assert database.changed() == []
        with pytest.raises(PublishError, match="does not let this role"), opened(server, name, "rosetta_reader") as database:  # fmt: skip
            database.add([card])

    def test_supabase_counts_people(self, server: Server, name: str) -> None:
        assert rows(server, name, "SELECT rosetta_submitter()", "ann") == [("ann",)]
        with closing(server.connect(name)) as connection:
            connection.execute("CREATE ROLE authenticated LOGIN")
            try:
                assert connection.execute("SELECT 1").fetchone() == (1,)
                with closing(server.connect(name, "authenticated")) as person:
                    person.execute('SET request.jwt.claims = \'{"sub": "7"}\'')
                    assert person.execute("SELECT rosetta_submitter()").fetchone() == ("user 7",)
            finally:
                connection.execute("DROP ROLE authenticated")
        with closing(server.connect(name, "ann")) as ann:
            # whoever connects by themselves may say anything here
            ann.execute('SET request.jwt.claims = \'{"sub": "7"}\'')
            assert ann.execute("SELECT rosetta_submitter()").fetchone() == ("ann",)


@pytest.mark.usefixtures("home")
class TestReading:
    def test_changed_card_is_named(self, server: Server, name: str, card: OutgoingCard) -> None:
        good, bad, false = several(card, 3)
        with opened(server, name) as database:
            database.add([good, bad, false])
        better = json.loads(bad.data)
        better["scores"]["chrf_plus_plus"] = 99.0
        with closing(server.connect(name)) as connection:
            connection.execute("ALTER TABLE run_cards DISABLE TRIGGER fill_run_card")
            connection.execute("UPDATE run_cards SET card_bytes = %s WHERE card_hash = %s", [json.dumps(better).encode(), bad.hash])  # fmt: skip
            connection.execute("UPDATE run_cards SET chrf_plus_plus = 99 WHERE card_hash = %s", [false.hash])
        with opened(server, name) as database:
            assert set(database.changed()) == {bad.hash, false.hash}
            with taken(database.cards()) as cards:
                [words] = cards.unverified
                which = "json_extract(run_card, '$.unverified') IS NOT NULL"
                found = cards.store.execute(f"SELECT run_id FROM runs WHERE {which}").fetchall()
        assert cards.count == 3
        assert bad.hash[:12] in words
        assert "does not verify" in words
        assert [row[0] for row in found] == [json.loads(bad.data)["run_id"]]

    def test_another_sealed_card_under_a_published_hash_is_named(self, card: OutgoingCard) -> None:
        first, second = several(card, 2)
        with taken([(first.hash, second.data), ("0" * 64, b"[1]")]) as cards:
            words = " | ".join(cards.unverified)
        assert "another card than the one that was published" in words
        assert f"left out: card {'0' * 12} " in words
        with taken([(first.hash, first.data), (first.hash, first.data)]) as cards:
            assert cards.unverified == []
            assert cards.store.execute("SELECT count(*) FROM runs").fetchone() == (1,)
        with pytest.raises(UsageError):
            assert OutgoingCard(b"no card").hash
