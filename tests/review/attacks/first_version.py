"""Files as the first version wrote them."""

import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "golden_1"


def as_of_the_first_version(certificate: dict[str, Any]) -> None:
    """Leave out what certificates of that version do not have."""
    first = json.loads((GOLDEN / "golden.certificate.json").read_bytes())
    for part, known in ((certificate, first), (certificate["panel"], first["panel"])):
        for name in set(part) - set(known):
            del part[name]
    certificate["format"] = first["format"]
