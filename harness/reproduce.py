"""From a card to a run that asks the same again: what its ``method`` block says, and what only a person can bring.

Nothing is guessed: the method is made with what there is, without a key, and its set-up must be the card's in every
field. Each field that is not is named with its hash on the card and the option that brings it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from corpora.files.json_types import Json
from corpora.model.corpus import Corpus
from harness import api
from harness.api import RunRequest
from harness.card.checking.recompute import card_setup
from harness.card.checking.signed import signers_of
from harness.card.checking.verify_card import check_hash, consent_checks
from harness.card.foreign_cards import adopt, unwrapped
from harness.card.material import fingerprint
from harness.card.model import RunCard
from harness.card.reading import parse_object, read_card_bytes
from harness.card.reproduction import (
    ReproductionComparison,
    SignedReproduction,
    fits_card,
    read_reproduction,
    reproduced_card,
    sign_reproduction,
)
from harness.card.rows import load_card, read_raw, row_entry
from harness.card.signing import SUFFIX, SealFile, kept_seals, own_keys, own_signer, read_seal
from harness.consent.checks import Verified
from harness.core.failures import UsageError
from harness.endpoint.endpoints import no_key, presets
from harness.inputs.prompt import shipped_versions
from harness.method.method import Setup
from harness.method.method_names import installed
from harness.method.option_table import METHODS, OPTIONS, SCORING, OptionKind
from harness.run.beginning import tools_for
from harness.sealed.keys import key_phrase
from harness.setup.scoring_tools import changes, stated_setup
from harness.shipped_methods.registry import build
from harness.store.attachments import keep_reproduction
from harness.store.runs import find_by_id, find_run
from scoring.core.inventory import row_of
from scoring.core.setup import CalibrationFacts, ScoringSetup
from scoring.statistics.repetitions import verdict


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A run that is the card's once more."""

    request: RunRequest
    setup: Setup
    """Of the method that was made, the same as the card's."""
    scored_otherwise: tuple[str, ...]
    """What the scores depend on besides the texts and is not as it was on the card: facts of its ``scoring`` block."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """One thing that the card names and that is not available."""

    what: str
    stated: str  # What the card says of it: a SHA-256, a name, a number
    mend: str  # The option that brings it
    here: str | None = None  # What was there in its place; None: nothing

    def __str__(self) -> str:
        place = "" if self.here is None else f", and here it is {self.here}"
        return f"{self.what}: the card has {self.stated}{place}. Give {self.mend}."


def _regular(name: str) -> tuple[str, str, str]:
    """Return how an option is called, its name and its flag, where the hash of its file has its name."""
    option = OPTIONS[name]
    return f"the {option.label.lower()}", name, f"{option.opt} FILE"


_HASHED = {
    "method_sha256": ("the plug-in's code", "method", "--method FILE.py:CLASS"),
    "outputs_sha256": _regular("outputs"),
    "coaching_data_sha256": ("the coaching data", "coaching", "--coaching FILE"),
    "fst_sha256": ("the method's analyser (FST)", "analyser", "--analyser FILE"),
}
"""Field of the set-up → what it is the hash of, the option that names it, and how."""

_HASHED_OPTIONS = {
    **{f"{name}_sha256": _regular(name) for name in METHODS["pipeline"].takes if OPTIONS[name].kind is OptionKind.FILE},
    "model_sha256": ("the model's folder", "model_folder", "--model-folder FOLDER"),
}
"""The same for members of the set-up's ``options``."""

_MENDS = {
    "system_prompt_sha256": "--prompt FILE (and --source-name, --target-name if the prompt names languages otherwise)",
    "provider": "--endpoint NAME or URL",
    "method_version": "the Rosetta that the card names: another version asks differently",
    "language_card_sha256": "--language-card FILE",
}
"""Field → what fixes it, where that is no option of the same name."""

_NOT_TOLD = frozenset({"fst_version", "system_prompt_used", "prompt_version", "method_class"})
"""Fields that follow from others, or name the engine of an analyser: all engines agree."""


def rebuild(connection: sqlite3.Connection, card: RunCard, corpus: Corpus, told: Mapping[str, object]) -> Rebuilt:
    """Return the run of a card once more, ready to be started; nothing is sent and no key is asked for.

    ``told``: options of a run by name, as ``api.ask`` takes them, and ``method`` for a plug-in; only those that a person gave. Raises UsageError
    that names everything that is missing, for another corpus than the card's, and for secret entries.
    """
    places = places_of(card, corpus)
    stated = card_setup(card)
    if lacking := list(_missing(stated, card, told)):
        raise _refused(lacking)
    method, options = _options(stated, told)
    options |= scored_with(stated_setup(card.scoring))
    own = {name: value for name, value in told.items() if name != "method"}
    plan = api.plan_of(corpus, method, options | own)
    asked = RunRequest(corpus, places, plan)
    setup = build(plan.method, plan.options, corpus.entries, no_key).setup
    weighed = _other_weights(stated_setup(card.scoring), plan.scoring.scoring)
    if lacking := [*_differences(stated, setup), *weighed]:
        raise _refused(lacking)
    tools = tools_for(connection, corpus, asked.entries, plan)
    tools.close()
    before = stated_setup(card.scoring)
    otherwise = () if before is None else tuple(changes(before, tools.setup))
    return Rebuilt(asked, setup, otherwise)


def same_setup(stated: Setup, found: Setup) -> Sequence[Lacking]:
    """Return in what a run's set-up is not the card's, the number of the repetition aside; empty where it is."""
    again = found.model_copy(update={"replicate": stated.replicate})
    return list(_differences(stated, again))


def places_of(card: RunCard, corpus: Corpus) -> tuple[int, ...]:
    """Return the places of the card's entries in its corpus; raises UsageError where it is not that corpus."""
    if corpus.sha256 != card.dataset.sha256:
        raise UsageError(
            f"This is not the corpus of the card: its SHA-256 is {corpus.sha256}, and the card has "
            f"{card.dataset.sha256} ({card.dataset.id}). Name that file with --corpus."
        )
    refuse_secrets(card)
    if not card.results:
        raise UsageError("The card names no entries (results[]), so nobody can tell which to ask.")
    by_id = {str(entry.id): place for place, entry in enumerate(corpus.entries)}
    ids = [str(row.entry_id) for row in card.results]
    if strange := [id_ for id_ in ids if id_ not in by_id]:
        raise UsageError(
            f"The card has {len(strange):,} entries that its corpus has not, first {strange[0]!r}: it is no card of it."
        )
    places = tuple(sorted(by_id[id_] for id_ in ids))
    if len(set(places)) != len(places):
        raise UsageError("The card has an entry twice: it is no card of this corpus.")
    if any(corpus.entries[place].secret for place in places):
        raise UsageError(_OVER_SECRETS)
    return places


def refuse_secrets(card: RunCard) -> None:
    """Raise UsageError for a card over secret entries: its exact scores stay where they are."""
    if card.withheld is not None or any(row.withheld or row_entry(row).secret for row in card.results):
        raise UsageError(_OVER_SECRETS)


_OVER_SECRETS = (
    "The card is over secret entries: such a run is reproduced where its vault is, and its scores leave as a released "
    "card only (rosetta runs export RUN --submitter NAME)."
)


def _missing(stated: Setup, card: RunCard, told: Mapping[str, object]) -> Iterator[Lacking]:
    """Yield what the card names by its hash and nobody gave."""
    for name, (what, option, how) in _HASHED.items():
        hashed = getattr(stated, name)
        at_hand = name == "method_sha256" and stated.method in installed()
        if hashed is not None and not told.get(option) and not at_hand:
            yield Lacking(what, f"SHA-256 {hashed}", how)
    for name, (what, option, how) in _HASHED_OPTIONS.items():
        if name in stated.options and not told.get(option):
            yield Lacking(what, f"SHA-256 {stated.options[name]}", how)
    first = (stated.prompt_version or "").partition("+")[0]
    takes = stated.method in METHODS and "prompt" in METHODS[stated.method].takes
    if takes and first and first not in shipped_versions() and not told.get("prompt"):
        words = f"the version {first!r} (as sent: SHA-256 {stated.system_prompt_sha256})"
        held = "; method.system_prompt_used has its text as it was sent"
        yield Lacking("the prompt", words, f"--prompt FILE{held}")
    needs = METHODS[stated.method].needs if stated.method in METHODS else ()
    if "endpoint" in needs and not told.get("endpoint") and stated.provider not in presets("chat"):
        yield Lacking("the endpoint", stated.provider or "none", "--endpoint URL")
    yield from _missing_scoring(stated_setup(card.scoring), told)


_WEIGHTS = "the signed weights of the composite"


def _other_weights(stated: ScoringSetup | None, here: CalibrationFacts | None) -> Iterator[Lacking]:
    """Yield that a composite would be weighed otherwise than the card's: the two would not compare."""
    then = None if stated is None else stated.calibration
    weights_named = [weighing and f"SHA-256 {weighing.sha256}" for weighing in (then, here)]
    if weights_named[0] != weights_named[1]:
        card, now = (words or "those of the specification" for words in weights_named)
        yield Lacking(_WEIGHTS, card, "--scoring FILE" if then else "no --scoring", now)


def _missing_scoring(stated: ScoringSetup | None, told: Mapping[str, object]) -> Iterator[Lacking]:
    """Yield what the metrics of the card read besides the texts, and nobody gave."""
    if stated is None:
        return
    if stated.calibration is not None and not told.get("scoring"):
        yield Lacking(_WEIGHTS, f"SHA-256 {stated.calibration.sha256}", "--scoring FILE")
    terms = stated.terms_sha256
    if terms is not None and not (told.get("terms") or told.get("coaching")):
        yield Lacking("the prescribed terms", f"SHA-256 {terms}", "--terms FILE")
    if stated.embeddings is not None and not told.get("embeddings"):
        words = stated.embeddings.sha256 or stated.embeddings.endpoint or ""
        yield Lacking("the embeddings", f"{stated.embeddings.model} ({words})", "--embeddings WHERE")
    if stated.comet is not None and not told.get("comet"):
        yield Lacking("COMET", f"{stated.comet.model} ({stated.comet.sha256})", "--comet FILE")


def _options(stated: Setup, told: Mapping[str, object]) -> tuple[str, dict[str, Json]]:
    """Return the method and the options that the card's set-up tells."""
    options: dict[str, Json] = {
        "condition": stated.condition,
        "method_name": stated.method_name,
        "replicate": stated.replicate,
        "use_cache": False,  # answers of before would reproduce themselves
    }
    shipped = METHODS.get(stated.method)
    if shipped is None:
        options["settings"] = dict(stated.options.get("settings", {}))
        return str(told.get("method") or stated.method), options
    known = _known_options(stated)
    options |= {name: known[name] for name in (*shipped.needs, *shipped.takes) if name in known}
    return stated.method, options


def scored_with(stated: ScoringSetup | None) -> dict[str, Json]:
    """Return the options of scoring that a card tells: those of its metrics that this version knows, and its references."""
    if stated is None:
        return {}
    known = tuple(id_ for id_ in stated.metrics if row_of(id_) is not None)
    switches = [option.name for option in SCORING.options if option.kind is OptionKind.SWITCH]
    return {"metrics": known, **{name: getattr(stated, name) for name in switches}} if known else {}


def _known_options(stated: Setup) -> dict[str, Json]:
    """Return every option of a shipped method that a set-up tells, whichever method takes it."""
    first = (stated.prompt_version or "").partition("+")[0]
    known: dict[str, Json] = {
        **{name: value for name, value in stated if name in OPTIONS},
        **{name: value for name, value in stated.options.items() if name in OPTIONS},
        "tools": tuple(stated.tools_enabled),
    }
    if stated.model_slug != stated.method:
        known["model"] = stated.model_slug
    if stated.provider in presets("chat"):
        known["endpoint"] = stated.provider
    if first in shipped_versions():
        known["prompt"] = first
    if stated.method == "human":
        known["translator"] = stated.model_slug
    return known


def _differences(stated: Setup, found: Setup) -> Iterator[Lacking]:
    """Yield each fact of the set-up that is not the card's."""
    then, now = stated.model_dump(mode="json"), found.model_dump(mode="json")
    for name in then:
        if name not in {*_NOT_TOLD, "options"} and then[name] != now[name]:
            yield _difference(name, then[name], now[name])
    inside, here = then["options"], now["options"]
    for name in sorted({*inside, *here}):
        if inside.get(name) != here.get(name):
            yield _difference(name, inside.get(name), here.get(name))


def _difference(name: str, stated: object, here: object) -> Lacking:
    what, _, how = {**_HASHED, **_HASHED_OPTIONS}.get(name, (name, "", ""))
    mend = how or _MENDS.get(name) or "the Rosetta or the plug-in that made the card"
    hashed = "SHA-256 " if name.endswith("sha256") else ""
    return Lacking(what, f"{hashed}{stated}", mend, f"{here}")


def _refused(lacking: Sequence[Lacking]) -> UsageError:
    count = "one thing is" if len(lacking) == 1 else f"{len(lacking)} things are"
    lines = "\n".join(f"  {lacking}" for lacking in lacking)
    return UsageError(f"This card cannot be run again yet: {count} missing or other.\n{lines}")


# ---- A card and the run that was made of it, held together; and the record of that, signed by
# anyone who ran it.


class ClaimedCard:
    """A card that is to be reproduced, with the seals that are next to it."""

    def __init__(self, card: RunCard, seals: Sequence[SealFile]) -> None:
        self.card = card
        self.seals = tuple(seal for seal in seals if seal.seal.card == card.run_card_hash)


def claimed_card(connection: sqlite3.Connection, name: str) -> ClaimedCard:
    """Read a card from a file, or a run of the store by its id; raises UsageError where its hash is not its own, or it is over secret entries."""
    path = Path(name)
    if path.is_file():
        raw = unwrapped(parse_object(read_card_bytes(path), path.name))
        beside = path.with_suffix(SUFFIX)
        seals = [read_seal(read_card_bytes(beside))] if beside.is_file() else []
    else:
        run = find_run(connection, name)
        raw = read_raw(connection, run.id)
        seals = kept_seals(connection, run.id, raw)
    checked = check_hash(raw)
    if not checked.ok:
        raise UsageError(f"{name}: {checked.words}. Nothing can be claimed of such a card.")
    card = adopt(raw, name)
    refuse_secrets(card)
    return ClaimedCard(card, seals)


def compared(connection: sqlite3.Connection, claimed: RunCard, repeated: str) -> ReproductionComparison:
    """Compare a finished run of the store, by its id, with a card.

    Raises UsageError where it is not the card's set-up on the card's entries, is the card's own run, was not made
    here, or took answers of before.
    """
    run = find_run(connection, repeated)
    card = load_card(connection, run.id)
    named = f"Run {run.run_id[:8]}"
    if run.imported or card.run_id == claimed.run_id or card.run_card_hash == claimed.run_card_hash:
        raise UsageError(f"{named} was not made here, or is the card's own run: it reproduces nothing.")
    ids = [sorted(str(row.entry_id) for row in run_card.results) for run_card in (claimed, card)]
    if claimed.dataset.sha256 != card.dataset.sha256 or ids[0] != ids[1]:
        raise UsageError(f"{named} is on other entries, or another corpus, than the card.")
    if other := same_setup(card_setup(claimed), run.setup):
        raise UsageError(f"{named} is another set-up. {other[0]}")
    if any(row.cached for row in card.results):
        raise UsageError(f"{named} took answers of earlier runs. Run it without them: rosetta runs reproduce.")
    before, after = stated_setup(claimed.scoring), stated_setup(card.scoring)
    facts = () if before is None or after is None else tuple(changes(before, after))
    version = ("harness_version",) if claimed.harness_version != card.harness_version else ()
    otherwise = (*version, *facts)
    if "calibration" in otherwise:
        raise UsageError(
            f"{named} has a composite of other weights than the card, so the two do not compare. Run the card again with the "
            "weights that it names: rosetta runs reproduce, with --scoring FILE where they were signed, and without where not."
        )
    first, second = reproduced_card(claimed), reproduced_card(card)
    print_ = fingerprint(card_setup(claimed), claimed.dataset.sha256, claimed.harness_version)
    return ReproductionComparison(
        claimed=first,
        repeated=second,
        setup_hash=print_.setup_hash or print_.hash,
        corpus=claimed.dataset.sha256,
        entries=len(card.results),
        reproduced=verdict(first.scores, second.scores).reproduced,
        scored_otherwise=otherwise,
    )


def signed(
    connection: sqlite3.Connection, claimed: ClaimedCard, found: ReproductionComparison, home: Path
) -> SignedReproduction:
    """Sign a comparison with this computer's keys, as a card is signed here.

    Raises UsageError for a card that this computer made or signed, one whose maker's seal is not next to it, and for
    outputs that no method made.
    """
    refuse_to_sign(connection, claimed, home)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return sign_reproduction(found, claimed.seals[0].seal.by, own_signer(home), now)


def refuse_to_sign(connection: sqlite3.Connection, claimed: ClaimedCard, home: Path) -> None:
    """Raise UsageError where no record of this card may be signed here, before anything is run."""
    card = claimed.card
    own = find_by_id(connection, card.run_id)
    key = own_signer(home).public.signing_key
    if (own is not None and not own.imported) or any(seal.seal.by == key for seal in claimed.seals):
        raise UsageError(
            "This run was made or signed here: nobody verifies their own run. Let somebody else run it again, on their "
            "computer."
        )
    if not claimed.seals:
        raise UsageError(
            "Nobody signed this card, so a record could not tell that another made it. Ask for its seal "
            f"(NAME{SUFFIX}), which `rosetta runs export` writes beside the card."
        )
    if card.method.outputs_sha256 is not None:
        raise UsageError(
            "The outputs of this card came from a file: scoring them again reproduces no method, so it is not signed."
        )


# ---- Putting a signed record of a reproduction beside the card that it is about, so that it
# shows as verified.


def attach(connection: sqlite3.Connection, data: bytes, trusted: str | None, home: Path) -> SignedReproduction:
    """Check a record and keep it beside the run whose card it names; raises UsageError where it shows nothing.

    ``trusted``: the key that a person named; None: a key of this computer signed. Anyone who made or signed the card is
    never believed about it, whatever is named.
    """
    reproduction = read_reproduction(data)
    own = own_keys(home)
    if not (reproduction.by == trusted if trusted is not None else reproduction.by in own):
        raise UsageError(
            f"The key that signed this record is not trusted here. Its six words are: {key_phrase(reproduction.by)}. Compare them "
            f"with anyone who is said to have signed, by another way than the record itself came, and name the key: --trust {reproduction.by}"
        )
    for consent_check in consent_checks(Verified(keys=frozenset({reproduction.by, reproduction.claimed_by}))):
        if consent_check.ok is False:
            raise UsageError(f"{consent_check.words}. The record shows nothing.")
    if not reproduction.reproduced:
        raise UsageError("The record says that the card was not reproduced: there is nothing to show.")
    run = find_by_id(connection, reproduction.claimed.run_id)
    if run is None:
        raise UsageError(
            f"Run {reproduction.claimed.run_id[:8]} is not in the list: import its card with its seal first."
        )
    if not run.imported and reproduction.by in own:
        raise UsageError("This run was made here, and so was the record: nobody verifies their own run.")
    raw = read_raw(connection, run.id)
    checked = check_hash(raw)
    wrong = fits_card(reproduction, raw, signers_of(kept_seals(connection, run.id, raw), raw))
    if not checked.ok or wrong:
        raise UsageError(f"The record shows nothing of this run: {wrong or checked.words}.")
    keep_reproduction(connection, run.id, reproduction.by, reproduction.claimed.card, data)
    return reproduction
