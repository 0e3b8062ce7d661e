"""What adversaries get in a box that is not root's: run as another user, with a folder and the options as JSON; prints JSON."""

import json
import sys
from pathlib import Path

from tests.harness.box.adversaries import REACHING, UNRULY
from tests.harness.box.making import SMALL, asked, boxed, outside_of


def main(folder: Path, names: list[str]) -> None:
    limits = SMALL.model_copy(update={"restarts": 200, "entry_seconds": 60.0})
    method = boxed(folder / "code", REACHING, limits, options=outside_of(folder))
    found = asked(method, *([name] for name in names))
    said = {name: output.text for name, [output] in zip(names, found, strict=True)}
    short = limits.model_copy(update={"entry_seconds": 1.0})
    [[output]] = asked(boxed(folder / "code", UNRULY["forks for ever"], short), ["one"])
    print(json.dumps(said | {"forks for ever": output.text}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
