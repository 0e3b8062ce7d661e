"""A card that another computer made: run again, scored again, signed, believed; and every way to cheat at it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from harness.card.load import load_card
from harness.card.model import RunCard
from harness.card.seal import card_hash
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.reproduce import comparing
from harness.sealed.keys import Identity, Role
from harness.store.file.database import opened
from rosetta_tui.commands import rosetta
from tests.harness.setup.calibrating import organisation, signed_file
from tests.keyring_in_memory import memory_keyring

SCHEMA = Path(__file__).parents[3] / "docs/schemas/runs-reproduce.schema.json"

WORDS = [("dog", "hundo"), ("cat", "kato"), ("bird", "birdo"), ("fish", "fiŝo"), ("tree", "arbo")]
KNOWN = WORDS[:3]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a corpus and its dictionary; ``submitter`` and ``maintainer`` are data folders, and the submitter ran it."""
    folder = tmp_path_factory.mktemp("made")
    pair = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
    rows = [
        {"id": n, "source": f"the {en} sees a {en}", "reference": f"la {eo} vidas {eo}n"}
        for n, (en, eo) in enumerate(WORDS)
    ]
    (folder / "corpus.json").write_text(
        json.dumps({"dataset": {"id": "five", "version": "1", **pair}, "entries": rows}), "utf-8"
    )
    lines = "".join(f"{en}\t{eo}\n" for en, eo in [*KNOWN, ("the", "la"), ("sees", "vidas")])
    (folder / "words.tsv").write_text(lines, "utf-8")
    (folder / "worse.tsv").write_text("dog\tkato\n", "utf-8")
    with memory_keyring(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROSETTA_HOME", str(folder / "submitter"))
        ok(f"run {folder}/corpus.json --method glossary --glossary {folder}/words.tsv --plain")
        ok(f"runs export last -o {folder}/card.json")
        patch.setenv("ROSETTA_HOME", str(folder / "maintainer"))
        ok(
            f"runs reproduce {folder}/card.json --corpus {folder}/corpus.json --glossary {folder}/words.tsv --sign"
            f" -o {folder}/record.json --plain"
        )
        yield folder


@pytest.fixture
def at(made: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what moves to another computer: its data folder's name."""
    return lambda name: monkeypatch.setenv("ROSETTA_HOME", str(made / name))


@pytest.fixture
def visitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Path) -> Path:
    """A third computer that imported the card with its seal."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "visitor"))
    ok(f"runs import {made}/card.json")
    return made


def said(line: str) -> Result:
    return CliRunner().invoke(rosetta, line.split())


def ok(line: str) -> str:
    done = said(line)
    assert done.exit_code == 0, done.output
    return done.output


def refused(line: str) -> str:
    done = said(line)
    assert done.exit_code != 0, done.output
    return f"{done.output}{done.exception}"


def tier() -> str:
    (run,) = json.loads(ok("runs list --json"))
    return str(run["verification_tier"])


def record(made: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made / "record.json").read_bytes())
    return found


def signed(fields: dict[str, Any], by: Identity) -> bytes:
    """Sign a record anew with somebody's key, whatever it says."""
    left = {name: each for name, each in fields.items() if name != "signature"}
    left["by"] = by.public.signing_key
    return canonical_bytes(left | {"signature": by.sign(canonical_bytes(left)).hex()}) + b"\n"


def test_a_card_is_reproduced_and_shows_so_where_the_signer_is_trusted(visitor: Path) -> None:
    assert tier() == "self-benchmarked"
    told = ok(f"runs verify {visitor}/record.json")
    assert "✓ scores: reproduced within 2 %" in told
    assert "✓ card: it is the record of this card" in told
    assert "– signature: " in told

    words = refused(f"runs attach {visitor}/record.json")
    assert "not trusted here" in words
    ok(f"runs attach {visitor}/record.json --trust {record(visitor)['by']}")
    assert tier() == "gds-verified"
    assert "gds-verified" in ok("runs show last")
    assert "gds-verified" in ok("leaderboard")
    assert "✓ run again: reached its scores within 2 %" in ok("runs show last")
    ok("runs attach last --remove")
    assert tier() == "self-benchmarked"
    assert "run again" not in ok("runs show last")


def test_a_record_of_a_key_that_was_revoked_speaks_against_it(visitor: Path) -> None:
    key = record(visitor)["by"]
    ok(f"runs attach {visitor}/record.json --trust {key}")
    ok(f"consent withdraw --signing-key {key} --by Us --reason stolen")
    assert tier() == "self-benchmarked"
    told = ok("runs show last")
    assert "✗ run again" in told
    assert "stolen" in told


def test_what_is_missing_is_named_with_its_hash_and_option(
    made: Path, at: Callable[[str], None]
) -> None:
    at("maintainer")
    words = refused(f"runs reproduce {made}/card.json --corpus {made}/corpus.json")
    assert "the dictionary: the card has SHA-256 " in words
    assert "Give --glossary FILE." in words
    other = refused(
        f"runs reproduce {made}/card.json --corpus {made}/corpus.json --glossary {made}/worse.tsv"
    )
    assert ", and here it is " in other
    strange = made / "strange.json"
    strange.write_text((made / "corpus.json").read_text("utf-8") + "\n", "utf-8")
    assert "not the corpus of the card" in refused(
        f"runs reproduce {made}/card.json --corpus {strange}"
    )


def test_exit_codes_and_json_say_what_came_of_it(made: Path, at: Callable[[str], None]) -> None:
    at("maintainer")
    line = f"--corpus {made}/corpus.json --glossary {made}/words.tsv --json --with last"
    told = json.loads(ok(f"runs reproduce {made}/card.json {line}"))
    jsonschema.validate(told, json.loads(SCHEMA.read_text("utf-8")))
    assert told["reproduced"] is True
    assert told["deviations"]["chrf_plus_plus"] == {"share": 0.0, "within": True}
    assert told["claimed"]["scores"] == told["repeated"]["scores"]

    better = resealed(made, lambda scores: scores.update(chrf_plus_plus=scores["chrf_plus_plus"] * 1.05))  # fmt: skip
    done = said(f"runs reproduce {better} {line}")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["reproduced"] is False
    assert told["deviations"]["chrf_plus_plus"]["share"] == pytest.approx(1 / 1.05 - 1)
    assert told["deviations"]["composite"]["within"] is True


def resealed(made: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Write the card with other scores, sealed anew, as anybody can."""
    card = json.loads((made / "card.json").read_bytes())
    change(card["scores"])
    card["run_card_hash"] = ""
    card["run_card_hash"] = card_hash(card)
    path = made / "resealed.json"
    path.write_text(json.dumps(card, ensure_ascii=False), "utf-8")
    return path


def test_a_card_with_better_numbers_than_its_outputs_has_no_rank(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    path = resealed(made, lambda scores: scores.update(chrf_plus_plus=99.0))
    assert "SCORED AGAIN, DIFFERENTLY: chrF++ states 99, its outputs give " in ok(
        f"runs import {path}"
    )
    (board,) = json.loads(ok("leaderboard --json"))
    assert board["runs"][0]["rank"] is None
    assert board["runs"][0]["stated"] is True
    assert "NOT those of its outputs" in ok("runs show last")


def test_references_that_are_the_outputs_are_found_with_the_corpus(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    card = json.loads((made / "card.json").read_bytes())
    card["results"][4]["reference"] = card["results"][4]["predicted"]
    card["run_card_hash"] = ""
    card["run_card_hash"] = card_hash(card)
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card), "utf-8")
    told = ok(f"runs import {path} --corpus {made}/corpus.json")
    assert "the reference of 1 entries is not that of the corpus" in told


def test_scores_are_stated_until_they_were_scored_again(visitor: Path) -> None:
    compare = f"compare {compared(visitor)}"
    (board,) = json.loads(ok("leaderboard --json"))
    assert board["runs"][0]["stated"] is True
    assert {each["imported"]: each["stated"] for each in json.loads(ok("runs list --json"))} == {
        True: True,
        False: False,
    }
    assert [each["stated"] for each in json.loads(ok(f"{compare} --json"))["runs"]] == [False, True]
    for command in ("leaderboard", "runs list", compare):
        assert ok(command).count("(stated)") == (2 if command == compare else 1)
    assert "B is as its card states (stated)" in ok(compare)
    assert "Scored again with its corpus: as stated." in ok(
        f"runs import {visitor}/card.json --corpus {visitor}/corpus.json"
    )
    (board,) = json.loads(ok("leaderboard --json"))
    assert board["runs"][0]["stated"] is False
    for command in ("leaderboard", "runs list", compare):
        assert "stated" not in ok(command)


def compared(made: Path) -> str:
    """Run another method on the corpus; gives the ids of that run and of the imported card's."""
    ok(f"run {made}/corpus.json --method copy-source --plain")
    runs = json.loads(ok("runs list --json"))
    own, other = (each["run_id"] for each in sorted(runs, key=lambda each: each["imported"]))
    return f"{own} {other}"


def test_one_byte_changed_and_the_record_shows_nothing(visitor: Path, tmp_path: Path) -> None:
    data, key = (visitor / "record.json").read_bytes(), record(visitor)["by"]
    changed = tmp_path / "changed.json"
    for place in range(0, len(data), 97):
        changed.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert said(f"runs attach {changed} --trust {key}").exit_code != 0
    assert tier() == "self-benchmarked"


def test_a_record_for_another_card_shows_nothing(visitor: Path, tmp_path: Path) -> None:
    maker, path = Identity.make(Role.COMPUTER), tmp_path / "record.json"
    other = record(visitor)
    other["claimed"]["card"] = "ab" * 32
    path.write_bytes(signed(other, maker))
    key = maker.public.signing_key
    assert "another card" in refused(f"runs attach {path} --trust {key}")
    assert said(f"runs verify {path}").exit_code == 1

    claimed = record(visitor)
    for side in ("claimed", "repeated"):
        claimed[side]["scores"]["chrf_plus_plus"] = 99.0
    path.write_bytes(signed(claimed, maker))
    assert "not those of the card" in refused(f"runs attach {path} --trust {key}")


def test_a_record_that_says_more_than_its_scores_is_none(visitor: Path, tmp_path: Path) -> None:
    maker, path = Identity.make(Role.COMPUTER), tmp_path / "record.json"
    lying = record(visitor)
    lying["repeated"]["scores"]["chrf_plus_plus"] *= 0.9
    path.write_bytes(signed(lying, maker))
    key = maker.public.signing_key
    assert "what its scores do not" in refused(f"runs attach {path} --trust {key}")
    lying["reproduced"] = False
    path.write_bytes(signed(lying, maker))
    assert "not reproduced" in refused(f"runs attach {path} --trust {key}")
    assert tier() == "self-benchmarked"


def test_nobody_verifies_their_own_run(
    made: Path, at: Callable[[str], None], tmp_path: Path
) -> None:
    at("submitter")
    line = f"--corpus {made}/corpus.json --glossary {made}/words.tsv"
    assert "nobody verifies their own run" in refused(
        f"runs reproduce {made}/card.json {line} --sign -o {tmp_path}/own.json"
    )
    own = Identity.load(made / "submitter", Role.COMPUTER)
    path = tmp_path / "own.json"
    path.write_bytes(signed(record(made), own))
    at("maintainer")
    ok(f"runs import {made}/card.json")
    key = own.public.signing_key
    assert "nobody verifies their own run" in refused(f"runs attach {path} --trust {key}")

    pretending = record(made) | {"claimed_by": "cd" * 32}
    path.write_bytes(signed(pretending, own))
    assert "signed the card too" in refused(f"runs attach {path} --trust {key}")

    other = Identity.make(
        Role.COMPUTER
    )  # a second key of the submitter's is nobody's whom we trust
    path.write_bytes(signed(record(made), other))
    assert "not trusted here" in refused(f"runs attach {path}")


def test_a_card_without_a_seal_is_not_signed_for(
    made: Path, at: Callable[[str], None], tmp_path: Path
) -> None:
    at("maintainer")
    bare = tmp_path / "bare.json"
    bare.write_bytes((made / "card.json").read_bytes())
    line = f"--corpus {made}/corpus.json --glossary {made}/words.tsv --sign -o {tmp_path}/r.json"
    assert "Nobody signed this card" in refused(f"runs reproduce {bare} {line}")


def test_a_run_that_is_another_is_not_held_against_the_card(
    made: Path, at: Callable[[str], None]
) -> None:
    at("other")
    ok(f"run {made}/corpus.json --method copy-source --plain")
    words = refused(f"runs reproduce {made}/card.json --corpus {made}/corpus.json --with last")
    assert "is another set-up" in words
    at("submitter")
    words = refused(f"runs reproduce {made}/card.json --corpus {made}/corpus.json --with last")
    assert "the card's own run" in words


def test_a_record_shows_nothing_of_a_card_that_came_without_its_seal(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    bare = tmp_path / "bare.json"
    bare.write_bytes((made / "card.json").read_bytes())
    ok(f"runs import {bare}")
    words = refused(f"runs attach {made}/record.json --trust {record(made)['by']}")
    assert "no seal of the key that it says signed the card lies beside the card" in words
    assert tier() == "self-benchmarked"


def test_a_second_key_of_this_computer_shows_nothing_of_its_own_run(
    made: Path, at: Callable[[str], None], tmp_path: Path
) -> None:
    at("submitter")
    path = tmp_path / "own.json"
    path.write_bytes(signed(record(made), Identity.load(made / "submitter", Role.ORGANISATION)))
    assert "This run was made here, and so was the record" in refused(f"runs attach {path}")


def test_answers_of_before_reproduce_nothing(
    made: Path, at: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    at("maintainer")
    load = load_card

    def cached(*told: Any) -> RunCard:
        card = load(*told)
        rows = [row.model_copy(update={"cached": True}) for row in card.results]
        return card.model_copy(update={"results": rows})

    monkeypatch.setattr(comparing, "load_card", cached)
    with opened() as store:
        run = record(made)["repeated"]["run_id"]
        claimed = comparing.claimed_card(store, str(made / "card.json"))
        with pytest.raises(UsageError, match="took answers of earlier runs"):
            comparing.compared(store, claimed.card, run)


def test_signed_weights_are_asked_for_and_must_be_the_cards(
    made: Path, at: Callable[[str], None], tmp_path: Path
) -> None:
    at("weighed")
    own = organisation(made / "weighed")
    weights = signed_file(tmp_path, own)
    run = f"{made}/corpus.json --method glossary --glossary {made}/words.tsv --plain"
    ok(f"run {run} --scoring {weights}")
    card = tmp_path / "weighed.json"
    ok(f"runs export last -o {card}")

    at("judge")
    line = f"runs reproduce {card} --corpus {made}/corpus.json --glossary {made}/words.tsv"
    sha256 = json.loads(card.read_bytes())["scoring"]["calibration"]["sha256"]
    words = refused(line)
    assert f"the signed weights of the composite: the card has SHA-256 {sha256}. Give --scoring FILE." in words  # fmt: skip
    assert "signed by a key that is not trusted here" in refused(f"{line} --scoring {weights}")
    (made / "judge" / "settings.toml").write_text(
        f'trusted_signers = ["{own.public.signing_key}"]\n', "utf-8"
    )
    other = signed_file(tmp_path, own, proposal="1" * 64)
    words = refused(f"{line} --scoring {other}")
    assert f"the card has SHA-256 {sha256}, and here it is SHA-256 " in words
    weights = signed_file(tmp_path, own)
    told = json.loads(said(f"{line} --scoring {weights} --json").stdout)
    assert told["reproduced"] is True
    assert told["scored_otherwise"] == []
    assert told["claimed"]["scores"]["composite"] == told["repeated"]["scores"]["composite"]

    ok(f"run {run}")
    words = refused(f"runs reproduce {card} --corpus {made}/corpus.json --with last")
    assert "has a composite of other weights than the card" in words
    plain = f"runs reproduce {made}/card.json --corpus {made}/corpus.json --glossary {made}/words.tsv"  # fmt: skip
    words = refused(f"{plain} --scoring {weights}")
    assert "the card has those of the specification, and here it is SHA-256 " in words
    assert "Give no --scoring." in words
