"""What an organiser hands on: the sealed file, tables, the page and variants, from a real review."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from corpora.formats.load import load
from corpora.samples import DEMO_CORPUS, sample_path
from harness.sealed.archive import unpack
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import read_age_identities, unseal
from harness.sealed.signature import verify
from review.files.batch import Batch
from review.files.manifests import ExportManifest
from rosetta_tui.commands.review import review
from rosetta_tui.commands.runs import runs
from tests.review.office import made
from tests.tui.review.exported import (
    COMMENT,
    WORDING,
    batch,
    home,
    rosetta,
    template,
)

__all__ = ["batch", "home", "template"]


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(review, arguments)
    assert result.exception is not None
    return str(result.exception)


@pytest.mark.thorough
def test_the_sealed_file_holds_everything_for_its_recipients(home: Path, batch: Batch) -> None:
    rosetta("gate", "spring", "--issue", "-o", str(home.parent / "issued"))
    told = rosetta("export", "spring", "-o", str(home.parent / "out")).output
    assert "each alone" in told
    path = home.parent / "out" / "spring.rosetta-export"
    sealed = path.read_bytes()
    assert COMMENT.encode() not in sealed
    own = Identity.load(home, Role.ORGANISATION).age
    [recovery] = read_age_identities(home / "review-recovery-key.txt")
    archive = unseal(sealed, [own])
    assert archive == unseal(sealed, [recovery])
    members = unpack(
        archive,
        {"manifest.json", "manifest.sig", "README.txt", "answer-key.json", "policy.toml", "events.jsonl", "ratings.csv", "run-1-card.json", "run-1.rosetta-evidence", "run-1-page.html"},
    )  # fmt: skip
    manifest = ExportManifest.model_validate_json(members["manifest.json"])
    assert verify(manifest.signing_key, members["manifest.json"], members["manifest.sig"])
    assert manifest.recipients == batch.manifest.organisation.recipients
    rows = list(csv.DictReader(io.StringIO(members["ratings.csv"].decode(), newline="")))
    assert len(rows) == 5 * len(next(iter(batch.manifest.orders.values())))
    assert {row["comment"] for row in rows} == {"", COMMENT}
    assert json.loads(members["run-1-card.json"])["run_id"] == made.RUNS[0]
    assert "is there already" in refused("export", "spring", "-o", str(home.parent / "out"))


def modes(folder: Path) -> dict[str, str]:
    return {path.suffix: oct(path.stat().st_mode & 0o777) for path in folder.iterdir()}


def test_what_is_published_may_be_read_by_every_user_and_nothing_else(
    home: Path, tmp_path: Path
) -> None:
    before = os.umask(0o077)
    try:
        rosetta("gate", "spring", "--issue", "-o", str(tmp_path / "issued"))
        rosetta("page", "spring", "-o", str(tmp_path / "issued" / "page.htm"))
        rosetta("export", "spring", "-o", str(tmp_path / "kept"))
        rosetta("export", "spring", "--csv", str(tmp_path / "kept" / "t.csv"))
        rosetta("export", "spring", "--mtme", str(tmp_path / "mtme"))
    finally:
        os.umask(before)
    assert modes(tmp_path / "issued") == dict.fromkeys(
        (".json", ".sig", ".txt", ".html", ".rosetta-evidence", ".htm"), "0o644"
    )
    assert modes(tmp_path / "kept") == {".rosetta-export": "0o600", ".csv": "0o600"}
    inside = [path for path in (tmp_path / "mtme").rglob("*") if path.is_file()]
    assert {oct(path.stat().st_mode & 0o777) for path in inside} == {"0o600"}


def test_the_table_has_no_words_of_people_unless_asked_for(home: Path, batch: Batch) -> None:
    rosetta("export", "--csv", "plain.csv")
    plain = (home.parent / "plain.csv").read_text("utf-8")
    assert COMMENT not in plain
    people = made.codes_of(home)
    assert not any(name in plain for name in (*people, *people.values()))
    rosetta("export", "--csv", "all.csv", "--comments")
    assert COMMENT in (home.parent / "all.csv").read_text("utf-8")
    assert "one of" in refused("export", "--csv", "a.csv", "--mtme", "b")
    assert "--inside is an option" in refused("export", "--csv", "--inside")


def test_the_layout_of_the_metrics_tasks_has_a_line_for_each_output(home: Path) -> None:
    rosetta("export", "--mtme", "mtme")
    folder = home.parent / "mtme"
    sources = (folder / "sources" / "en-eo.txt").read_text("utf-8").splitlines()
    scores = (folder / "human-scores" / "en-eo.rosetta.seg.score").read_text("utf-8").splitlines()
    assert len(sources) == len(scores) == 80
    assert all(2 <= float(line.split("\t")[1]) <= 3 for line in scores)


def test_the_page_needs_a_certificate_and_speaks_the_language_asked_for(home: Path) -> None:
    assert "--issue" in refused("page", "spring")
    rosetta("gate", "spring", "--issue", "-o", "issued")
    rosetta("page", "spring")
    page = (home.parent / "spring-page.html").read_text("utf-8")
    assert "Yes." in page
    rosetta("page", "spring", "--language", "fr", "-o", "fr.html")
    french = (home.parent / "fr.html").read_text("utf-8")
    assert 'lang="fr"' in french
    assert "Oui" in french
    assert "people" not in french.partition("<body>")[2]
    assert "language tag" in refused("page", "spring", "--language", "../x")


def test_suggested_wordings_are_listed_and_never_added_by_themselves(home: Path) -> None:
    corpus = str(sample_path(DEMO_CORPUS))
    listed = json.loads(rosetta("variants", corpus, "spring", "--json").output)
    [offered] = listed
    assert (offered["wording"], offered["people"]) == (WORDING, 2)
    assert WORDING in rosetta("variants", corpus).output
    assert "a person's yes" in refused("variants", corpus, "-o", "new.json")
    assert "Leave one of them out" in refused("variants", corpus, "-o", "new.json", "--json")
    assert "-o goes with --issue" in refused("gate", "spring", "-o", "out")
    assert "-o is for the sealed file" in refused("export", "spring", "-o", "out", "--csv", "r.csv")
    assert not (home.parent / "out").exists()
    assert not (home.parent / "new.json").exists()


def test_a_yes_writes_a_new_version_and_leaves_the_corpus_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = sample_path(DEMO_CORPUS)
    before = corpus.read_bytes()
    monkeypatch.setattr("rosetta_tui.commands.review.variants.answering", lambda: True)
    result = CliRunner().invoke(review, ["variants", str(corpus), "-o", "new.json"], input="y\n")
    assert result.exit_code == 0, result.output
    after = load(home.parent / "new.json")
    assert sum(WORDING in entry.variants for entry in after.entries) == 1
    assert after.dataset.version == "1.1.0"
    assert corpus.read_bytes() == before


@pytest.mark.thorough
def test_who_takes_ratings_back_takes_the_claim_away_until_it_is_issued_anew(
    home: Path, batch: Batch
) -> None:
    def run() -> dict[str, Any]:
        [listed] = json.loads(CliRunner().invoke(runs, ["list", "--json"]).stdout)
        return dict(listed)

    rosetta("gate", "spring", "--issue", "-o", "first")
    [certificate] = (home.parent / "first").glob("*.certificate.json")
    rosetta("attach", str(certificate))
    assert (run()["review"], run()["review_suspended"]) == ("go", False)
    assert "reviewed" in run()["tier_in_words"]
    rosetta(
        "withdraw", "spring", next(iter(made.codes_of(home).values())), "--scope", "batch", "--yes"
    )
    assert run()["review_suspended"] is True
    assert "reviewed" not in run()["tier_in_words"]
    assert "SUSPENDED" in CliRunner().invoke(runs, ["show", "last"]).stdout
    card = home.parent / "card.json"
    assert CliRunner().invoke(runs, ["export", "last", "-o", str(card)]).exit_code == 0
    assert not card.with_suffix(".certificate.json").exists()
    assert "anew" in refused("page", "spring")
    rosetta("gate", "spring", "--issue", "-o", "second")
    [again] = (home.parent / "second").glob("*.certificate.json")
    rosetta("attach", str(again))
    assert (run()["review"], run()["review_suspended"]) == ("go", False)
