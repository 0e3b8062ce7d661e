"""Upgrades of older stores, applied and recorded by sqlite-utils."""

from __future__ import annotations

from sqlite_utils import Database, Migrations

from harness.store.sqlite.schema import STEPS

migrations = Migrations("rosetta")


def _register(name: str, sql: str) -> None:
    @migrations(name=name)
    def _apply(db: Database) -> None:
        db.executescript(sql)


for _name, _sql in STEPS.items():
    _register(_name, _sql)
