"""A card that another computer made: run again, scored again, signed, believed; and every way to cheat at it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness import reproduce
from harness.card.model import RunCard, card_hash
from harness.card.rows import load_card
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role
from harness.store.sqlite.database import opened
from tests.harness.setup.calibrating import organisation, signed_file
from tests.keyring_in_memory import memory_keyring
from tests.review.thorough import times
from tests.tui.commands.command_line import ok, refused, said

SCHEMA = Path(__file__).parents[3] / "docs/schemas/runs-reproduce.schema.json"

WORDS = [("dog", "hundo"), ("cat", "kato"), ("bird", "birdo"), ("fish", "fiŝo"), ("tree", "arbo")]
KNOWN = WORDS[:3]
REPRODUCE = "runs reproduce card.json --corpus corpus.json"


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
        again = f"runs reproduce {folder}/card.json --corpus {folder}/corpus.json --plain --sign"
        ok(f"{again} --glossary {folder}/words.tsv -o {folder}/record.json")
        yield folder


At = Callable[[str], None]


@pytest.fixture(autouse=True)
def there(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))


@pytest.fixture
def at(made: Path, monkeypatch: pytest.MonkeyPatch) -> At:
    """Return what moves to another computer: its data folder's name."""
    return lambda name: monkeypatch.setenv("ROSETTA_HOME", str(made / name))


@pytest.fixture
def visitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Path) -> Path:
    """A third computer that imported the card with its seal."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "visitor"))
    ok(f"runs import {made}/card.json")
    return made


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


def test_reproduction_shows_where_its_signer_is_trusted(visitor: Path) -> None:
    key = record(visitor)["by"]
    assert tier() == "self-benchmarked"
    told = ok("runs verify record.json")
    assert "✓ scores: reproduced within 2 %" in told
    assert "✓ card: it is the record of this card" in told
    assert "– signature: " in told
    assert "not trusted here" in refused("runs attach record.json")
    ok(f"runs attach record.json --trust {key}")
    assert tier() == "gds-verified"
    assert "gds-verified" in ok("leaderboard")
    assert "✓ run again: reached its scores within 2 %" in ok("runs show last")
    ok("runs attach last --remove")
    assert tier() == "self-benchmarked"
    assert "run again" not in ok("runs show last")
    ok(f"runs attach record.json --trust {key}")
    ok(f"community withdraw --signing-key {key} --by Us --reason stolen")
    assert tier() == "self-benchmarked"
    told = ok("runs show last")
    assert "✗ run again" in told
    assert "stolen" in told


def test_reproduce_names_what_is_missing(made: Path, at: At) -> None:
    at("maintainer")
    words = refused(REPRODUCE)
    assert "the dictionary: the card has SHA-256 " in words
    assert "Give --glossary FILE." in words
    assert ", and here it is " in refused(f"{REPRODUCE} --glossary worse.tsv")
    Path("strange.json").write_text((made / "corpus.json").read_text("utf-8") + "\n", "utf-8")
    strange = refused("runs reproduce card.json --corpus strange.json")
    assert "not the corpus of the card" in strange


def resealed(made: Path, change: Callable[[dict[str, Any]], object], name: str = "resealed") -> str:
    """Write the card with other content, sealed anew, as anybody can; return its file's name."""
    card = json.loads((made / "card.json").read_bytes())
    change(card)
    card["run_card_hash"] = ""
    card["run_card_hash"] = card_hash(card)
    (made / f"{name}.json").write_text(json.dumps(card, ensure_ascii=False), "utf-8")
    return f"{name}.json"


def test_reproduce_json_and_exit_code(made: Path, at: At) -> None:
    at("maintainer")
    more = "--corpus corpus.json --glossary words.tsv --json --with last"
    told = json.loads(ok(f"runs reproduce card.json {more}"))
    jsonschema.validate(told, json.loads(SCHEMA.read_text("utf-8")))
    assert told["reproduced"] is True
    assert told["deviations"]["chrf_plus_plus"] == {"share": 0.0, "within": True}
    assert told["claimed"]["scores"] == told["repeated"]["scores"]

    def better(card: dict[str, Any]) -> None:
        card["scores"]["chrf_plus_plus"] *= 1.05

    done = said(f"runs reproduce {resealed(made, better)} {more}")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["reproduced"]) == (1, False)
    assert told["deviations"]["chrf_plus_plus"]["share"] == pytest.approx(1 / 1.05 - 1)
    assert told["deviations"]["composite"]["within"] is True


@pytest.mark.usefixtures("fresh")
def test_import_of_changed_numbers_or_references_says_so(made: Path) -> None:
    path = resealed(made, lambda card: card["scores"].update(chrf_plus_plus=99.0), "better")
    words = "SCORED AGAIN, DIFFERENTLY: chrF++ states 99, its outputs give "
    assert words in ok(f"runs import {path}")
    (board,) = json.loads(ok("leaderboard --json"))
    assert (board["runs"][0]["rank"], board["runs"][0]["stated"]) == (None, True)
    assert "NOT those of its outputs" in ok("runs show last")
    ok("runs delete last --now --yes")

    def copied(card: dict[str, Any]) -> None:
        card["results"][4]["reference"] = card["results"][4]["predicted"]

    told = ok(f"runs import {resealed(made, copied, 'copied')} --corpus corpus.json")
    assert "the reference of 1 entries is not that of the corpus" in told


def test_import_states_scores_until_scored_again(visitor: Path) -> None:
    ok("run corpus.json --method copy-source --plain")
    [_, run] = sorted(json.loads(ok("runs list --json")), key=lambda each: each["imported"])
    assert run["stated"] is True
    for command in ("leaderboard", "runs list"):
        assert ok(command).count("(stated)") == 1
    again = ok("runs import card.json --corpus corpus.json")
    assert "Scored again with its corpus: as stated." in again
    for command in ("leaderboard", "runs list"):
        assert "stated" not in ok(command)


def changes(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the maker of a record could sign besides, by the word with which it is refused."""
    claimed, repeated = record["claimed"], record["repeated"]

    def scoring(side: dict[str, Any], value: float) -> dict[str, Any]:
        return side | {"scores": side["scores"] | {"chrf_plus_plus": value}}

    worse = scoring(repeated, repeated["scores"]["chrf_plus_plus"] * 0.9)
    return {
        "another card": {"claimed": claimed | {"card": "ab" * 32}},
        "not those of the card": {"claimed": scoring(claimed, 99.0), "repeated": scoring(repeated, 99.0)},
        "what its scores do not": {"repeated": worse},
        "not reproduced": {"repeated": worse, "reproduced": False},
    }  # fmt: skip


def test_reproduction_that_was_changed_shows_nothing(visitor: Path, tmp_path: Path) -> None:
    data, key = (visitor / "record.json").read_bytes(), record(visitor)["by"]
    changed = tmp_path / "changed.json"
    for place in range(0, len(data), times(400, 97)):
        changed.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert said(f"runs attach {changed} --trust {key}").exit_code != 0
    maker = Identity.make(Role.COMPUTER)
    for words, said_instead in changes(record(visitor)).items():
        changed.write_bytes(signed(record(visitor) | said_instead, maker))
        assert words in refused(f"runs attach {changed} --trust {maker.public.signing_key}")
    changed.write_bytes(signed(record(visitor) | changes(record(visitor))["another card"], maker))
    assert said(f"runs verify {changed}").exit_code == 1
    assert tier() == "self-benchmarked"


def test_reproduce_own_run_is_refused(made: Path, at: At, tmp_path: Path) -> None:
    at("submitter")
    path = tmp_path / "own.json"
    mine = refused(f"{REPRODUCE} --glossary words.tsv --sign -o {path}")
    assert "nobody verifies their own run" in mine
    path.write_bytes(signed(record(made), Identity.load(made / "submitter", Role.ORGANISATION)))
    assert "This run was made here, and so was the record" in refused(f"runs attach {path}")
    own = Identity.load(made / "submitter", Role.COMPUTER)
    at("maintainer")
    ok("runs import card.json")
    trusted = f"runs attach {path} --trust {own.public.signing_key}"
    path.write_bytes(signed(record(made), own))
    assert "nobody verifies their own run" in refused(trusted)
    path.write_bytes(signed(record(made) | {"claimed_by": "cd" * 32}, own))
    assert "signed the card too" in refused(trusted)
    path.write_bytes(signed(record(made), Identity.make(Role.COMPUTER)))  # whom nobody trusts
    assert "not trusted here" in refused(f"runs attach {path}")


def test_reproduce_with_another_run_is_refused(made: Path, at: At) -> None:
    at("other")
    ok("run corpus.json --method copy-source --plain")
    assert "is another set-up" in refused(f"{REPRODUCE} --with last")
    at("submitter")
    assert "the card's own run" in refused(f"{REPRODUCE} --with last")


def test_reproduction_of_an_unsealed_card_shows_nothing(made: Path, at: At, tmp_path: Path) -> None:
    bare = tmp_path / "bare.json"
    bare.write_bytes((made / "card.json").read_bytes())
    at("maintainer")
    line = f"runs reproduce {bare} --corpus corpus.json --glossary words.tsv --sign"
    assert "Nobody signed this card" in refused(f"{line} -o {tmp_path}/r.json")
    at("bare")
    ok(f"runs import {bare}")
    words = refused(f"runs attach record.json --trust {record(made)['by']}")
    assert "no seal of the key that it says signed the card is next to the card" in words
    assert tier() == "self-benchmarked"


def test_reproduce_with_cached_answers_is_refused(made: Path, at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    at("maintainer")
    load = load_card

    def cached(*told: Any) -> RunCard:
        card = load(*told)
        rows = [row.model_copy(update={"cached": True}) for row in card.results]
        return card.model_copy(update={"results": rows})

    monkeypatch.setattr(reproduce, "load_card", cached)
    with opened() as store:
        run = record(made)["repeated"]["run_id"]
        claimed = reproduce.claimed_card(store, str(made / "card.json"))
        with pytest.raises(UsageError, match="took answers of earlier runs"):
            reproduce.compared(store, claimed.card, run)


def test_reproduce_needs_the_signed_weights_of_the_card(made: Path, at: At, tmp_path: Path) -> None:
    at("weighed")
    own = organisation(made / "weighed")
    weights = signed_file(tmp_path, own)
    run = "run corpus.json --method glossary --glossary words.tsv --plain"
    ok(f"{run} --scoring {weights}")
    card = tmp_path / "weighed.json"
    ok(f"runs export last -o {card}")

    at("judge")
    line = f"runs reproduce {card} --corpus corpus.json --glossary words.tsv"
    sha256 = json.loads(card.read_bytes())["scoring"]["calibration"]["sha256"]
    asked = f"the signed weights of the composite: the card has SHA-256 {sha256}. Give --scoring"
    assert asked in refused(line)
    assert "signed by a key that is not trusted here" in refused(f"{line} --scoring {weights}")
    trusted = f'trusted_signers = ["{own.public.signing_key}"]\n'
    (made / "judge" / "settings.toml").write_text(trusted, "utf-8")
    other = signed_file(tmp_path, own, proposal="1" * 64)
    words = refused(f"{line} --scoring {other}")
    assert f"the card has SHA-256 {sha256}, and here it is SHA-256 " in words
    weights = signed_file(tmp_path, own)
    told = json.loads(said(f"{line} --scoring {weights} --json").stdout)
    assert (told["reproduced"], told["scored_otherwise"]) == (True, [])
    assert told["claimed"]["scores"]["composite"] == told["repeated"]["scores"]["composite"]

    ok(run)
    words = refused(f"runs reproduce {card} --corpus corpus.json --with last")
    assert "has a composite of other weights than the card" in words
    words = refused(f"{REPRODUCE} --glossary words.tsv --scoring {weights}")
    assert "Give no --scoring." in words
