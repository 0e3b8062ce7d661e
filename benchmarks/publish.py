"""Publishing 1,000 run cards, against a bare COPY of the same bytes into the same database; then the same again.

Run from the repository: ``python -m benchmarks.publish``. The cards are those of the demonstration's run (96 entries, 175 kB each), sealed again with
outputs of their own. A PostgreSQL of its own on a socket, without fsync. The bare COPY fills a table of the two columns that hold a whole card, bytea
and jsonb, without key, index, rule or transaction but its own; a COPY of the bytea alone is told next to it. Wall-clock time, for most of it is the
server's, in turns, the best of several rounds, each in an empty database.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from psycopg.types.json import Jsonb

from benchmarks.end_to_end import cpu_seconds
from harness.card.model import card_hash, seal_form
from harness.core.canonical import canonical_bytes
from harness.publish.cards import OutgoingCard, outgoing_run
from harness.publish.database import opened_database
from harness.publish.place import DatabasePlace, place_of
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from tests.harness.publish.conftest import Server, running

CARDS = 1_000
GOAL, AGAIN = 1.3, 0.02
ROUNDS = 3


def main() -> None:
    """Print the seconds of each way and the ratios to the goals."""
    with running() as server, TemporaryDirectory() as folder:
        cards = made(Path(folder))
        size = sum(len(each.data) for each in cards)
        best = {"copy": 1e9, "bytes": 1e9, "first": 1e9, "again": 1e9}
        for _ in range(ROUNDS):
            name = server.database()
            found = {
                "copy": seconds(partial(copied, server, name, cards, ("bytea", "jsonb"))),
                "bytes": seconds(partial(copied, server, name, cards, ("bytea",))),
                **published(server, name, cards),
            }
            best = {what: min(best[what], found[what]) for what in best}
    ratio, again = best["first"] / best["copy"], best["again"] / best["first"]
    print(
        f"{CARDS:,} cards, {size / 1e6:,.0f} MB: bare COPY {best['copy']:.1f} s (bytea alone {best['bytes']:.1f} s), published {best['first']:.1f} s, "
        f"ratio {ratio:.2f}, goal {GOAL:g} {'met' if ratio <= GOAL else 'MISSED'}; again {best['again']:.3f} s, {again:.2%} of the first, goal {AGAIN:.0%} "
        f"{'met' if again <= AGAIN else 'MISSED'}; every seal verified from the database, none doubled"
    )


def made(folder: Path) -> list[OutgoingCard]:
    """Return the demonstration's card, as many times, each with outputs and its own seal."""
    call = "from rosetta_tui.cli import main; main()"
    cpu_seconds(["-c", call, "demo", "--plain"], {"ROSETTA_HOME": str(folder)})
    with closing(open_store(folder / "rosetta.sqlite")) as store:
        first = json.loads(outgoing_run(store, find_run(store, "last")).data)
    cards = []
    for number in range(CARDS):
        rows = [{**row, "predicted": f"{row['predicted']} {number}"} for row in first["results"]]
        card = {**first, "run_id": f"{number:08d}-0000-4000-8000-000000000000", "results": rows}
        card["run_card_hash"] = card_hash(card)
        cards.append(OutgoingCard(canonical_bytes(card)))
    assert len({each.hash for each in cards}) == CARDS
    return cards


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def copied(server: Server, name: str, cards: Sequence[OutgoingCard], types: tuple[str, ...]) -> None:
    """Copy the cards into a bare table with a column of each type."""
    with closing(server.connect(name)) as connection, connection.cursor() as cursor:
        columns = ", ".join(f"{each}_of {each}" for each in types)
        cursor.execute(f"CREATE TABLE bare_{len(types)} ({columns})")
        with cursor.copy(f"COPY bare_{len(types)} FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for each in cards:
                whole = Jsonb(each.data, dumps=bytes)
                copy.write_row((each.data, whole)[: len(types)])


def published(server: Server, name: str, cards: Sequence[OutgoingCard]) -> dict[str, float]:
    """Publish the cards, then the same again, and verify each as the database has it."""
    found = place_of(server.url(name))
    assert isinstance(found, DatabasePlace)
    with opened_database(found) as database:
        database.prepare()
        hashes = [each.hash for each in cards]

        def publish() -> int:
            there = database.known(hashes)
            return database.add([each for each in cards if each.hash not in there])

        counts: list[int] = []
        times = [seconds(lambda: counts.append(publish())) for _ in range(2)]
        assert counts == [CARDS, 0]
        stored = list(database.cards())
        assert dict(stored) == {each.hash: each.data for each in cards}
        assert len(stored) == CARDS
        assert all(seal_form(json.loads(data)) is not None for _, data in stored)
    return {"first": times[0], "again": times[1]}


if __name__ == "__main__":
    main()
