"""A step of a schema that was recorded once never changes, and every implemented metric has its column."""

import re
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from harness.publish import cards
from harness.store.sqlite.schema import CARD_FIELDS, STEPS, create_schema
from scoring.core.packs import shipped_packs
from scoring.core.specification import specification

SQL = Path(cards.__file__).with_name("sql")

PINNED = {
    "m001_texts_and_corpora": "5b82355141629732ddc67c91537a4997",
    "m002_runs": "bca60d0cb01cf2a81df064beb290061a",
    "m003_replies": "6e20d6b524b7ba39d1c0131bfce12bdc",
    "m004_findings": "abe2fa465d49f66fba1cae071df8aa65",
    "m005_certificates": "8880bb9bcf150f83a7cda575de977fee",
    "m006_notes_and_deletion": "fac07b043ecd305eea55713b8eefd5e4",
    "m007_secret_texts": "d21d1ebf5ec8f9c2a1118da0d4b3cbcb",
    "m008_row_words": "8cd3a26ac3d74228b6ab26c2544c58f4",
    "m009_steering": "da73725b3e42f441efb7ef340cd533f1",
    "m010_sort_values": "6d8c1148120d8bddac666a35214fcfd4",
    "m011_annotations": "87a94ecf30f173ab1a9eab1e070292e8",
    "m012_card_seals": "fe7a184bc6b291e8e5230b986df7782e",
    "m013_sealed_texts": "036ffd526a540382c32fa9f1472d23a1",
    "m014_sweeps": "fcbec27cb3372212a8075926e98fb568",
    "m015_others_cards": "9ef9d4fe7dd74a08e8969d9f555d7390",
    "m016_races": "9c92f6c49259fa1c685dbb3f6c7ef411",
    "m017_signed_records": "469c6aaaa86764b37e056d2bae1e7593",
    "m018_run_scores": "c4236c5278a05f2c1cfa0294768c5826",
    "m019_run_lines": "3b9804274b7af12d089d671be556ce46",
    "m020_run_summaries": "341faa90107e5dbab9cc804ae8dbf8fe",
}
"""Name → the first 32 digits of the SHA-256 of its SQL."""

PUBLISHED = {"0001_run_cards": "794c72d2693ad17410345d852dab9903", "0002_metrics": "e22167726c7bcaf5ae925e4944366369"}
"""The same of the steps of published cards in PostgreSQL."""


def test_recorded_migrations_never_change() -> None:
    """A new step is added to the end of both; one that is here is not edited, but followed by another."""
    digests = {name: sha256(sql.encode()).hexdigest()[:32] for name, sql in STEPS.items()}
    assert digests == PINNED
    published = {path.stem: sha256(path.read_bytes()).hexdigest()[:32] for path in SQL.glob("*.sql")}
    assert published == PUBLISHED


def test_each_metric_has_a_column() -> None:
    """A new metric needs its id in ``METRICS`` and a step of each schema that adds its column."""
    packed = {id_: row for pack in shipped_packs() for id_, row in pack.rows.items()}
    rows = specification().metrics | packed
    fields = {path[1] for path in CARD_FIELDS.values() if path[0] == "scores"}
    assert {id_ for id_, row in rows.items() if row.module} == fields - {"composite", "quality_tier"}
    with closing(sqlite3.connect(":memory:")) as store:
        create_schema(store)
        stored = {row[1] for row in store.execute("PRAGMA table_info(run_scores)")}
    assert stored == {"run", *CARD_FIELDS}
    steps = "".join(path.read_text("utf-8") for path in SQL.glob("*.sql"))
    published = re.findall(r"(?:^ {4}|ADD COLUMN )(\w+) (?:real|text)\b", steps, re.MULTILINE)
    assert set(CARD_FIELDS) <= set(published)
