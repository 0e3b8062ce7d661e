"""Evidence that was changed at random: both programs say the same of it."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from harness.core.failures import HarnessError
from review.verdict.certificate.evidence import Evidence
from tests.review.attacks.ground import verified
from tests.review.thorough import times
from tests.review.verdict.certified import GO, asked_alone, issue, packed, review_of

pytestmark = pytest.mark.usefixtures("honest_part")


def tampered(evidence: Evidence, rng: Random) -> Evidence:
    """Return evidence in which something that others signed, or that a signature covers, is changed at random."""
    laptops, events = list(evidence.handed_over), list(evidence.events)
    place = rng.randrange(len(laptops))
    match rng.randrange(9):
        case 0:
            del laptops[place]
        case 1:
            signature = bytearray(laptops[place].signature)
            signature[rng.randrange(64)] ^= 1
            laptops[place] = replace(laptops[place], signature=bytes(signature))
        case 2:
            laptops[place] = laptops[rng.randrange(len(laptops))]
        case 3:
            del events[rng.randrange(len(events))]
        case 4:
            rated = rng.choice([at for at, event in enumerate(events) if event.kind == "rate"])
            events[rated] = events[rated].erased()
        case 5:
            laptops.append(rng.choice(list(evidence.batches.values())))
        case 6:
            kind = rng.choice(("consent", "undo", "harm"))
            events = [event for event in events if event.kind != kind]
        case 7:
            laptops.reverse()  # their order has no meaning
        case _:
            key = evidence.key.model_copy(update={"seed": rng.randrange(7)})
            return replace(evidence, key=key)
    return replace(evidence, handed_over=tuple(laptops), events=tuple(events))


def test_both_programs_agree_on_random_tampering(tmp_path: Path) -> None:
    """The organiser certifies the changed evidence, so that all the rest fits."""
    path, outcomes = tmp_path / "x.rosetta-evidence", Counter[bool]()
    for seed in range(times(12, 400)):
        rng = Random(seed)
        shape = replace(GO, mischief=float(seed % 4 == 1), apart=bool(seed % 2))
        evidence = tampered(review_of(1, shape), rng)
        try:
            file = issue(evidence)
        except HarnessError:
            continue  # too little is left to certify
        holds = verified(file).ok
        assert (asked_alone(packed(file, path))[0] == 0) is holds, seed
        outcomes[holds] += 1
    assert outcomes[True]
    assert outcomes[False] > outcomes.total() / 2
