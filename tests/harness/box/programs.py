"""Programs that tests of the box start: ``python -m tests.harness.box.programs WHAT FOLDER …``; the first two print JSON.

``adversaries`` and ``engine`` are run as another user, and say what they get in a box that is not root's; ``killed`` asks a
boxed method that never answers, and is killed meanwhile.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue

from harness.box.boxed import boxed_method
from harness.box.engine import BoxedCode
from harness.box.engines import OwnProcess, shut_off
from tests.harness.box.adversaries import REACHING, UNRULY
from tests.harness.box.making import SMALL, asked, boxed, outside_of, setup, written


def adversaries(folder: Path, names: list[str]) -> object:
    limits = replace(SMALL, restarts=200, entry_seconds=60.0)
    method = boxed(folder / "code", REACHING, limits, options=outside_of(folder))
    found = asked(method, *([name] for name in names))
    said = {name: output.text for name, [output] in zip(names, found, strict=True)}
    short = replace(limits, entry_seconds=1.0)
    [[output]] = asked(boxed(folder / "code", UNRULY["forks for ever"], short), ["one"])
    return said | {"forks for ever": output.text}


ENGINE = """
import json, os, socket
import pytest
from dataclasses import replace
def tried(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__
def translate(texts, options):
    found = [tried(lambda: open(path).read()) for path in (*options["paths"], "/etc/passwd")]
    found += [tried(lambda: open(options["paths"][0], "a") and "written"), tried(lambda: socket.socket() and "a socket")]
    return [json.dumps([*found, sorted(os.environ)])]
"""


def engine(folder: Path) -> object:
    told, other = folder / "told", folder / "other"
    for each in (told, other):
        each.write_text(each.name, encoding="utf-8")
        each.chmod(0o600)
    options: dict[str, JsonValue] = {"paths": [str(told), str(other)]}
    code = BoxedCode(written(folder / "code", ENGINE), "method:translate", options=options)
    method = boxed_method(code, SMALL, OwnProcess(["pytest"], [told]), None, setup())
    [[output]] = asked(method, ["x"])
    return [shut_off(), json.loads(output.text or "null")]


NEVER = """
import os, sys, time
def translate(texts):
    if os.fork() == 0:
        os.setsid()
    sys.stderr.write("begun")
    time.sleep(1000)
"""

if __name__ == "__main__":
    what, place = sys.argv[1], Path(sys.argv[2])
    if what == "killed":
        patient = replace(SMALL, entry_seconds=1000.0)
        print("begins", flush=True)
        asked(boxed(place, NEVER, patient), ["text"])
    else:
        print(json.dumps(engine(place) if what == "engine" else adversaries(place, sys.argv[3:])))
