"""Methods that want out of the box: none reaches anything, none makes us wait, and each is named."""

import os
import re
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from harness.box.seccomp import DENIED
from harness.core.failures import ErrorClass
from tests.harness.box.adversaries import NAMES, REACHING, UNRULY
from tests.harness.box.making import SMALL, asked, boxed, needs_engine, outside_of, run_as_nobody
from tests.harness.sealed.refusals import refuses

_PATIENT = SMALL.model_copy(update={"restarts": 200, "entry_seconds": 60.0})


@pytest.fixture(scope="module")
def got(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str | None]]:
    """What each adversary says that it got; None where it did not live to say it."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret").write_text("a sentence that nobody may read", encoding="utf-8")
    abstract = f"rosetta-{secrets.token_hex(8)}"
    with ExitStack() as stack:
        kinds = ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM), *[(socket.AF_UNIX, socket.SOCK_STREAM)] * 2)  # fmt: skip
        tcp, udp, named, unnamed = (stack.enter_context(socket.socket(*kind)) for kind in kinds)
        tcp.bind(("127.0.0.1", 0))
        port = tcp.getsockname()[1]
        udp.bind(("127.0.0.1", port))
        named.bind(str(folder / "socket"))
        unnamed.bind("\0" + abstract)
        for each in (tcp, named, unnamed):
            each.listen()
        os.environ["ROSETTA_CANARY_KEY"] = "secret"
        stack.callback(os.environ.pop, "ROSETTA_CANARY_KEY")
        options = outside_of(folder, abstract=abstract, port=port)
        method = boxed(folder / "code", REACHING, _PATIENT, options=options)
        found = asked(method, *([name] for name in NAMES))
        yield {name: output.text for name, [output] in zip(NAMES, found, strict=True)}
        assert (folder / "secret").read_text(encoding="utf-8") == "a sentence that nobody may read"
        udp.setblocking(False)
        refuses(BlockingIOError, "", udp.recv, 1)


@needs_engine
@pytest.mark.parametrize("name", NAMES)
def test_adversary_reaches_nothing(got: dict[str, str | None], name: str) -> None:
    assert got[name] in ({"held", None} if name in {"memory", "shared_memory"} else {"held"})


@needs_engine
@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root becomes another"
)
def test_adversary_reaches_nothing_as_an_ordinary_user(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # others do not reach pytest's own
        folder = Path(name)
        (folder / "code").mkdir()
        (folder / "secret").write_text("a sentence that nobody may read", encoding="utf-8")
        for each in (folder, folder / "code"):
            each.chmod(0o777)
        said = run_as_nobody("adversaries", name, *NAMES)
    assert said.pop("forks for ever") is None
    assert set(said) == set(NAMES)
    assert {name: got for name, got in said.items() if got != "held"} == {}


@needs_engine
@pytest.mark.parametrize("name", UNRULY)
def test_unruly_method_is_an_error_of_its_text_alone(tmp_path: Path, name: str) -> None:
    """The first text is answered wrongly, the second by a box that was begun anew."""
    limits = _PATIENT.model_copy(update={"entry_seconds": 1.0})
    code = UNRULY[name] + _GOOD_AT_THE_SECOND
    method = boxed(tmp_path, code, limits, entry="method:good_later")
    [[first], [second]] = asked(method, ["one"], ["two"])
    assert first.error_class in {ErrorClass.METHOD, ErrorClass.MALFORMED, ErrorClass.TIMEOUT}
    assert second.text == "two"


_GOOD_AT_THE_SECOND = """
def good_later(texts):
    return texts if texts == ["two"] else translate(texts)
"""


DOCS = Path(__file__).parents[3] / "docs"


def test_page_on_security_names_every_adversary() -> None:
    page = (DOCS / "security.md").read_text("utf-8")
    played = [*(name.replace("_", " ") for name in NAMES), *UNRULY]
    assert [name for name in played if name not in page] == []
    assert f"plays {len(played)} adversaries" in page
    here = [sum(numbers[place] is not None for numbers in DENIED.values()) for place in (0, 1)]
    refused = f"{here[0]} refused (x86_64), {here[1]} (aarch64)"
    assert refused in (DOCS / "box.md").read_text("utf-8")


@needs_engine
@pytest.mark.parametrize(("file", "name", "options", "given"), [
    ("translator.py", "translate", {}, "SALUTON"),
    ("with_options.py", "Translator", {"ending": "!"}, "saluton!"),
])  # fmt: skip
def test_example_of_the_page_runs(tmp_path: Path, file: str, name: str, options: dict[str, Any], given: str) -> None:  # fmt: skip
    page = (DOCS / "box.md").read_text("utf-8")
    [code] = re.findall(rf"```python\n# {file}\n(.*?)```", page, re.DOTALL)
    [[output]] = asked(boxed(tmp_path, code, entry=f"method:{name}", options=options), ["saluton"])
    assert output.text == given
