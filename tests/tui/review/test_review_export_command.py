"""What an organiser hands on: the sealed file, tables, the page and variants; and who reads ratings has looked."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from corpora.formats.load import load
from corpora.samples import DEMO_CORPUS, sample_path
from harness.sealed.archive import unpack
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import read_age_identities, unseal
from harness.sealed.signature import verify
from review.files.manifests import ExportManifest
from review.log.payloads import Comment, HarmFlag, Suggest
from review.office.store.store import Office
from review.rating import Rating
from rosetta_tui.commands.calibrate import calibrate
from rosetta_tui.commands.review import review
from rosetta_tui.commands.runs import runs
from tests.review.office import made
from tests.review.verdict import histories
from tests.tui.review.creating import CREATE, batch_at, refused, rosetta
from tests.tui.review.gated import rate_of, say_later

COMMENT, WORDING = "Mi dirus tion alie, =kara", "Tute alia traduko."
CORPUS = sample_path(DEMO_CORPUS)
GOOD = [Rating.ACCEPTABLE, Rating.EXCELLENT, Rating.EXCELLENT]


def rate(folder: Path) -> None:
    """Make a home with a review of the demo that five people rated as good, mostly."""
    stick, home = folder / "stick", folder / "home"
    rosetta(*CREATE, "-o", stick, "--seed", "3", "--name", "spring", "--reviewers", "5")
    batch = batch_at(stick)
    with Office.open(home) as office:
        key = office.review("spring").key
    for number, (who, code) in enumerate(made.codes_of(home).items()):
        person = made.Person(folder / code, batch, who)
        draw = Random(number)
        spoilt = [key.items[item].control == "bad" for item in person.order]
        person.rate([Rating.REJECT if bad else draw.choice(GOOD) for bad in spoilt])
        if number < 2:  # a comment and a better wording at the first real item
            about = {**person.place, "item": key.core[0]}
            person.laptop.append(Comment(**about, text=COMMENT))
            person.laptop.append(Suggest(**about, text=WORDING))
        (stick / f"{number}.rosetta-ratings").write_bytes(person.handed_over())
        person.laptop.close()
    rosetta("import", stick, "--enrol", "--yes")


def rated_home(folder: Path, monkeypatch: pytest.MonkeyPatch, *, issued: bool) -> Path:
    """Copy a home with ratings that was made once, with a certificate of them where it was ``issued``; go there."""

    def fill(to: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ROSETTA_HOME", str(to / "home"))
            made.store_runs(to / "home")
            rate(to)
            if issued:
                rosetta("gate", "spring", "--issue", "-o", to / "issued")

    kept = made.kept(f"rated {issued}", fill)
    made.copied(kept / "home", folder / "home")
    shutil.copytree(kept / "stick", folder / "stick")
    if issued:
        shutil.copytree(kept / "issued", folder / "issued")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def rated(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return rated_home(home.parent, monkeypatch, issued=True)


@pytest.fixture
def unseen(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with ratings at which nobody has looked."""
    return rated_home(home.parent, monkeypatch, issued=False)


def test_export_seals_everything_for_its_recipients(rated: Path) -> None:
    home = rated / "home"
    assert "each alone" in rosetta("export", "spring", "-o", "out").output
    sealed = (rated / "out" / "spring.rosetta-export").read_bytes()
    assert COMMENT.encode() not in sealed
    archive = unseal(sealed, [Identity.load(home, Role.ORGANISATION).age])
    [recovery] = read_age_identities(home / "review-recovery-key.txt")
    assert archive == unseal(sealed, [recovery])
    names = {
        "manifest.json", "manifest.sig", "README.txt", "answer-key.json", "policy.toml",
        "events.jsonl", "ratings.csv", "run-1-card.json", "run-1.rosetta-evidence",
        "run-1-page.html",
    }  # fmt: skip
    members = unpack(archive, names)
    manifest = ExportManifest.model_validate_json(members["manifest.json"])
    assert verify(manifest.signing_key, members["manifest.json"], members["manifest.sig"])
    batch = batch_at(rated / "stick").manifest
    assert manifest.recipients == batch.organisation.recipients
    rows = list(csv.DictReader(io.StringIO(members["ratings.csv"].decode(), newline="")))
    assert len(rows) == 5 * len(next(iter(batch.orders.values())))
    assert {row["comment"] for row in rows} == {"", COMMENT}
    assert json.loads(members["run-1-card.json"])["run_id"] == made.RUNS[0]
    assert "is there already" in refused("export", "spring", "-o", "out")


def modes(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.suffix: oct(path.stat().st_mode & 0o777) for path in files}


def test_what_is_published_may_be_read_by_every_user_and_nothing_else(rated: Path) -> None:
    before = os.umask(0o077)
    try:
        rosetta("gate", "spring", "--issue", "-o", "again")
        rosetta("page", "spring", "-o", "again/page.htm")
        rosetta("export", "spring", "-o", "kept")
        rosetta("export", "spring", "--csv", "kept/t.csv")
        rosetta("export", "spring", "--mtme", "mtme")
    finally:
        os.umask(before)
    issued = (".json", ".sig", ".txt", ".html", ".rosetta-evidence", ".htm")
    assert modes(rated / "again") == dict.fromkeys(issued, "0o644")
    assert modes(rated / "kept") == {".rosetta-export": "0o600", ".csv": "0o600"}
    assert set(modes(rated / "mtme").values()) == {"0o600"}
    pair = "en-eo"
    sources = (rated / "mtme" / "sources" / f"{pair}.txt").read_text("utf-8").splitlines()
    scores = (rated / "mtme" / "human-scores" / f"{pair}.rosetta.seg.score").read_text("utf-8")
    assert len(sources) == len(scores.splitlines()) == 80
    assert all(2 <= float(line.split("\t")[1]) <= 3 for line in scores.splitlines())


def test_export_table_has_no_words_of_people_unless_asked_for(rated: Path) -> None:
    rosetta("export", "--csv", "plain.csv")
    plain = (rated / "plain.csv").read_text("utf-8")
    people = made.codes_of(rated / "home")
    assert not any(name in plain for name in (COMMENT, *people, *people.values()))
    rosetta("export", "--csv", "all.csv", "--comments")
    assert COMMENT in (rated / "all.csv").read_text("utf-8")
    for arguments, said in (
        (("export", "--csv", "a.csv", "--mtme", "b"), "one of"),
        (("export", "--csv", "--inside"), "--inside is an option"),
        (("export", "spring", "-o", "out", "--csv", "r.csv"), "-o is for the sealed file"),
        (("gate", "spring", "-o", "out"), "-o goes with --issue"),
    ):
        assert said in refused(*arguments)
    assert not (rated / "out").exists()


def test_page_needs_a_certificate_and_speaks_the_language_asked_for(unseen: Path) -> None:
    assert "--issue" in refused("page", "spring")
    rosetta("gate", "spring", "--issue", "-o", "first")
    rosetta("page", "spring")
    assert "Yes." in (unseen / "spring-page.html").read_text("utf-8")
    rosetta("page", "spring", "--language", "fr", "-o", "fr.html")
    french = (unseen / "fr.html").read_text("utf-8")
    assert 'lang="fr"' in french
    assert "Oui" in french
    assert "people" not in french.partition("<body>")[2]
    assert "language tag" in refused("page", "spring", "--language", "../x")


def test_variants_are_listed_and_written_only_with_a_yes(
    unseen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [offered] = json.loads(rosetta("variants", CORPUS, "spring", "--json").output)
    assert (offered["wording"], offered["people"]) == (WORDING, 2)
    assert WORDING in rosetta("variants", CORPUS).output
    asked = ("variants", CORPUS, "-o", "new.json")
    assert "a person's yes" in refused(*asked)
    assert "Leave one of them out" in refused(*asked, "--json")
    assert not (unseen / "new.json").exists()
    before = CORPUS.read_bytes()
    monkeypatch.setattr("rosetta_tui.commands.review.variants.answering", lambda: True)
    rosetta(*asked, text="y\n")
    after = load(unseen / "new.json")
    assert sum(WORDING in entry.variants for entry in after.entries) == 1
    assert after.dataset.version == "1.1.0"
    assert CORPUS.read_bytes() == before


def test_withdrawal_suspends_the_claim_until_it_is_issued_anew(rated: Path) -> None:
    def run() -> dict[str, Any]:
        [listed] = json.loads(CliRunner().invoke(runs, ["list", "--json"]).stdout)
        return dict(listed)

    [certificate] = (rated / "issued").glob("*.certificate.json")
    rosetta("attach", certificate)
    assert (run()["review"], run()["review_suspended"]) == ("go", False)
    assert "reviewed" in run()["tier_in_words"]
    code = next(iter(made.codes_of(rated / "home").values()))
    back = ("withdraw", "spring", code, "--scope", "batch", "--yes")
    for command in (back, ("status", "spring")):
        assert "RECOMPUTE: one certificate rests" in rosetta(*command).output
    assert run()["review_suspended"] is True
    assert "reviewed" not in run()["tier_in_words"]
    assert "SUSPENDED" in CliRunner().invoke(runs, ["show", "last"]).stdout
    assert CliRunner().invoke(runs, ["export", "last", "-o", "card.json"]).exit_code == 0
    assert not (rated / "card.certificate.json").exists()
    assert "anew" in refused("page", "spring")
    rosetta("gate", "spring", "--issue", "-o", "second")
    [again] = (rated / "second").glob("*.certificate.json")
    rosetta("attach", again)
    assert (run()["review"], run()["review_suspended"]) == ("go", False)


def looks() -> list[int]:
    with Office.open(Path("home")) as office:
        return list(office.state(office.review("spring")).looks.values())


def rated_once_more(place: int = 0) -> None:
    """Let one person rate one item anew: other ratings than those that were read."""
    with Office.open(Path("home")) as office:
        found = office.review("spring")
        again = next(iter(found.key.orders.values()))[place]
        say_later(office, found, 3 + place, rate_of(found, again))


def test_who_reads_ratings_before_the_gate_has_looked(unseen: Path) -> None:
    with Office.open(Path("home")) as office:  # something is called harmful: to decide about
        found = office.review("spring")
        key = found.key
        item = next(i for i in key.core if key.items[i].control is None)
        about = {"reviewer": next(iter(key.orders)), "batch": key.batches[0], "item": item}
        say_later(office, found, 1, HarmFlag(wall=histories.WALL, harmful=True, **about))
    ways: tuple[Callable[[], Result], ...] = (
        lambda: CliRunner().invoke(calibrate, ["--review", "spring"]),
        lambda: rosetta("export", "--csv", "t.csv"),
        lambda: rosetta("export", "--mtme", "m"),
        lambda: rosetta("export", "-o", "s"),
        lambda: CliRunner().invoke(review, ["adjudicate", "--all"], input="q\n"),
        lambda: rosetta("adjudicate", "--all", "--json"),
    )
    assert looks() == []
    for number, way in enumerate(ways, 1):
        assert f"look {number} at the ratings" in way().output
        rated_once_more(number)  # on a laptop of its own
    assert looks() == [6]


def test_page_is_a_look_where_ratings_came_after_the_certificate(rated: Path) -> None:
    page = ("page", "spring", "--overwrite")
    assert "look" not in rosetta(*page).output
    rated_once_more()
    [certificate] = (rated / "issued").glob("*.certificate.json")
    rosetta("verify", certificate)
    rosetta("attach", certificate)
    assert looks() == [1], "neither tells anything of ratings"
    assert "look 2 at the ratings" in rosetta(*page).output
    assert looks() == [2]


def test_what_tells_nothing_of_ratings_is_no_look(unseen: Path) -> None:
    rosetta("status")
    rosetta("status", "spring", "--json")
    rosetta("variants", CORPUS, "spring", "--json")
    rosetta("adjudicate")  # no flag, nothing that split the panel
    assert looks() == []
