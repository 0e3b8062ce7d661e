"""What an engine's process can reach where it is not root's: run as another user, with a folder; prints JSON."""

import json
import sys
from pathlib import Path

from pydantic import JsonValue

from harness.box.boxed import boxed_method
from harness.box.code import BoxedCode
from harness.box.own_process import OwnProcess, shut_off
from tests.harness.box.making import SMALL, asked, setup, written

CODE = """
import json, os, socket
import pytest
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


def main(folder: Path) -> None:
    told, other = folder / "told", folder / "other"
    for each in (told, other):
        each.write_text(each.name, encoding="utf-8")
        each.chmod(0o600)
    options: dict[str, JsonValue] = {"paths": [str(told), str(other)]}
    code = BoxedCode(written(folder / "code", CODE), "method:translate", options=options)
    method = boxed_method(code, SMALL, OwnProcess(["pytest"], [told]), None, setup())
    [[output]] = asked(method, ["x"])
    print(json.dumps([shut_off(), json.loads(output.text or "null")]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
