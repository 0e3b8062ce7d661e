"""Registers and notices for tests: an organisation, a community elsewhere, and somebody whom nobody knows."""

from datetime import UTC, datetime
from pathlib import Path

from harness.consent.notice import OfCorpus, OfMethod, Subject, write_notice
from harness.consent.register import Register
from harness.sealed.keys import Identity, Role, key_phrase

OWN, COMMUNITY, RIVAL = (Identity.make(Role.ORGANISATION) for _ in range(3))
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)

CORPUS = OfCorpus(
    sha256="a" * 64, id="words", source_language="en", target_language="eo", language_pair="EN→EO"
)
METHOD = OfMethod(fields={"method": "chat", "model_slug": "rival-1"})


def register(folder: Path) -> Register:
    return Register(folder, OWN)


def from_elsewhere(about: Subject, by: Identity = COMMUNITY) -> bytes:
    return write_notice(about, "she asked", "Council", by, NOON)


def six_words(of: Identity) -> str:
    return key_phrase(of.public.signing_key)
