"""Files as the first version wrote them."""

from __future__ import annotations

import json
from typing import Any

from tests.review.attacks.forgeries import (
    GOLDEN,
)


def as_of_the_first_version(certificate: dict[str, Any]) -> None:
    """Leave out what certificates of that version do not have."""
    first = json.loads((GOLDEN / "golden.certificate.json").read_bytes())
    for part, known in ((certificate, first), (certificate["panel"], first["panel"])):
        for name in set(part) - set(known):
            del part[name]
    certificate["format"] = first["format"]
