"""What a run takes off its outputs before they are scored, by the source alone."""

from __future__ import annotations

import pytest

from scoring.findings.content import stripped

SOURCE = "I see the dog."
EVERY = ("prose", "wrapper", "quotes")


@pytest.mark.parametrize(
    ("output", "steps", "wanted"),
    [
        ("Here is the translation: Mi vidas la hundon.", ("prose",), "Mi vidas la hundon."),
        ("Here is the translation: Mi vidas la hundon.", ("quotes", "wrapper"), None),
        ('"Mi vidas la hundon."', ("quotes",), "Mi vidas la hundon."),
        ('"Mi vidas la hundon."', ("prose",), None),
        ("```\nMi vidas la hundon.\n```", ("wrapper",), "Mi vidas la hundon."),
        ('Here is the translation: "Mi vidas la hundon."', EVERY, "Mi vidas la hundon."),
        ("<think>A dog.</think>Mi vidas la hundon.", ("prose",), "Mi vidas la hundon."),
        ("Here is the translation:", EVERY, None),
        ("Mi vidas la hundon.", EVERY, None),
        ("", EVERY, None),
        ("  Mi vidas  ", (), None),
    ],
)
def test_output_keeps_what_no_step_takes_off(output: str, steps: tuple[str, ...], wanted: str | None) -> None:
    assert stripped(SOURCE, output, steps) == (output if wanted is None else wanted)


def test_what_the_source_has_too_stays() -> None:
    assert stripped('"I see the dog."', '"Mi vidas la hundon."', EVERY) == '"Mi vidas la hundon."'
