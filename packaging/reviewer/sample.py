"""A sample to try out: a small review of Esperanto sentences, by an organisation that exists for a moment only.

Its keys are thrown away when the file is written, so nobody can open what somebody answers; the file says so.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import recipe

FILE = f"Sample{recipe.SUFFIX}"
SAMPLES = recipe.ROOT / "corpora" / "samples"

ENTRIES = {
    12: "strong", 18: "weak", 25: "strong", 31: "weak", 36: "strong", 42: "weak",
    47: "strong", 51: "weak", 55: "strong", 58: "weak", 62: "strong", 66: "weak",
}  # fmt: skip
"""Entry of the demo corpus → which of its recorded outputs is shown."""

_TITLE = "Sample to try out · Exemple à essayer"
_CONSENT = """This is a sample, to see how it goes. Nobody asks for your judgement here, and nobody can open what you answer. \
Your answers stay on this computer, and you may delete them in the program.

Ceci est un exemple, pour voir comment cela se passe. Personne ne demande votre avis ici, et personne ne peut ouvrir vos \
réponses. Elles restent sur cet ordinateur, et vous pouvez les effacer dans le programme."""
_GUIDE = """Read the original, then the translation. If you do not speak Esperanto, guess: it is only a sample.

Lisez l’original, puis la traduction. Si vous ne parlez pas espéranto, devinez : ce n’est qu’un exemple."""

LESSONS = (
    ("I see the dog.", "Mi vidas la hundon.", "excellent", "A person wrote this translation."),
    ("I see the dog.", "Mi vidas la hundo.", "acceptable", "One letter is missing at the end; the meaning is right."),
    ("I see the dog.", "Vidi la hundo mi.", "gist", "The words are the right ones, but nobody says it this way."),
    ("I see the dog.", "La kato dormas.", "reject", "This says something else: the cat is sleeping."),
)  # fmt: skip
"""Source, candidate, right answer and why."""


class Sample(NamedTuple):
    """A file of a review, and the code that belongs to it."""

    data: bytes
    code: str
    """As it is printed on a card."""
    phrase: str
    """Six words of the organisation."""


def make() -> Sample:
    """Make the sample with new keys."""
    from harness.sealed.keys import Identity, Role
    from review.files.batch import make_batch, write_batch
    from review.files.identities import make_codes, new_salt, place_of, printed, tag_of

    organisation = Identity.make(Role.ORGANISATION)
    [code] = make_codes(1)
    salt = new_salt()
    place = place_of(tag_of(code, salt))
    manifest = _manifest(organisation.public.signing_key, place)
    batch = make_batch(manifest, _items(), _lessons(), organisation, salt)
    return Sample(write_batch(batch), printed(code), batch.organisation_phrase)


def _manifest(signing_key: str, place: str) -> Any:
    from harness.sealed.sealing import AgeIdentity
    from review.files.manifests import BatchManifest, Organisation

    return BatchManifest(
        batch=secrets.token_hex(8),
        review="sample",
        title=_TITLE,
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        source_language="en",
        target_language="eo",
        organisation=Organisation(
            name="Rosetta (sample)",
            signing_key=signing_key,
            recipients=tuple(sorted(AgeIdentity.make().recipient for _ in range(2))),
        ),
        policy_sha256="0" * 64,
        consent=_CONSENT,
        guide=_GUIDE,
        language="en",
        secret=False,
        orders={place: tuple(map(_id, ENTRIES))},
        members={},
    )


def _items() -> list[Any]:
    from review.files.manifests import BatchItem

    corpus = json.loads((SAMPLES / "eo-demo-v1.json").read_text("utf-8"))
    sources = {entry["id"]: entry["source"] for entry in corpus["entries"]}
    outputs = {name: _outputs(name) for name in set(ENTRIES.values())}
    return [
        BatchItem(id=_id(entry), source=sources[entry], candidate=outputs[name][entry])
        for entry, name in sorted(ENTRIES.items())
    ]


def _outputs(name: str) -> Mapping[int, str]:
    lines = (SAMPLES / f"eo-demo-outputs-{name}.jsonl").read_text("utf-8").splitlines()
    return {row["id"]: row["output"] for row in map(json.loads, lines)}


def _lessons() -> list[Any]:
    from review.files.manifests import TrainingItem
    from review.rating import Rating

    return [
        TrainingItem(
            id=_id(0xE000 + number), source=source, candidate=candidate, rating=Rating(rating), explanation=why
        )
        for number, (source, candidate, rating, why) in enumerate(LESSONS, 1)
    ]


def _id(number: int) -> str:
    return f"{number:016x}"


def keep(made: Sample, path: Path) -> None:
    """Keep a sample with the code and words that belong to it: none of them is a secret."""
    told = made._asdict() | {"data": base64.b64encode(made.data).decode()}
    path.write_text(json.dumps(told), encoding="utf-8")


def kept(path: Path) -> Sample:
    """Return a sample that was kept."""
    told = json.loads(path.read_text("utf-8"))
    return Sample(base64.b64decode(told["data"]), told["code"], told["phrase"])


def write(folder: Path) -> Sample:
    """Write the sample into a folder."""
    made = make()
    (folder / FILE).write_bytes(made.data)
    return made
