"""Methods that want out of the box: none reaches anything, none makes us wait, and each is named."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.core.failures import ErrorClass
from tests.harness.box.adversaries import NAMES, REACHING, UNRULY
from tests.harness.box.making import SMALL, asked, boxed, needs_engine, run_as_nobody

_PATIENT = SMALL.model_copy(update={"restarts": 200})


@pytest.fixture(scope="module")
def got(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str | None]]:
    """What each adversary says that it got; None where it did not live to say it."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret").write_text("a sentence that nobody may read", encoding="utf-8")
    abstract = f"rosetta-{secrets.token_hex(8)}"
    with ExitStack() as stack:
        tcp, udp, named, unnamed = (
            stack.enter_context(socket.socket(family, kind))
            for family, kind in (
                (socket.AF_INET, socket.SOCK_STREAM),
                (socket.AF_INET, socket.SOCK_DGRAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
            )
        )
        tcp.bind(("127.0.0.1", 0))
        port = tcp.getsockname()[1]
        udp.bind(("127.0.0.1", port))
        named.bind(str(folder / "socket"))
        unnamed.bind("\0" + abstract)
        for each in (tcp, named, unnamed):
            each.listen()
        os.environ["ROSETTA_CANARY_KEY"] = "secret"
        stack.callback(os.environ.pop, "ROSETTA_CANARY_KEY")
        options = {
            "secret": str(folder / "secret"),
            "socket": str(folder / "socket"),
            "abstract": abstract,
            "port": port,
            "memory": SMALL.memory_bytes,
            "disk": SMALL.disk_bytes,
            "processes": SMALL.processes,
        }
        method = boxed(folder / "code", REACHING, _PATIENT, options=options)
        found = asked(method, *([name] for name in NAMES))
        yield {name: output.text for name, [output] in zip(NAMES, found, strict=True)}
        assert (folder / "secret").read_text(encoding="utf-8") == "a sentence that nobody may read"
        udp.setblocking(False)
        with pytest.raises(BlockingIOError):
            udp.recv(1)


@needs_engine
@pytest.mark.parametrize("name", NAMES)
def test_reaches_nothing(got: dict[str, str | None], name: str) -> None:
    assert got[name] in {"held", None}


@needs_engine
def test_most_live_to_say_that_they_got_nothing(got: dict[str, str | None]) -> None:
    assert {name for name, said in got.items() if said is None} <= {"memory", "shared_memory"}


@needs_engine
@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root becomes another user"
)
def test_reaches_nothing_as_an_ordinary_user(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # others do not reach pytest's own
        folder = Path(name)
        (folder / "code").mkdir()
        (folder / "secret").write_text("a sentence that nobody may read", encoding="utf-8")
        for each in (folder, folder / "code"):
            each.chmod(0o777)
        said = run_as_nobody("tests.harness.box.as_nobody", name, *NAMES)
    assert said.pop("forks for ever") is None
    assert set(said) == set(NAMES)
    assert {name: got for name, got in said.items() if got != "held"} == {}


@needs_engine
@pytest.mark.parametrize("name", UNRULY)
def test_is_an_error_of_its_text_alone(tmp_path: Path, name: str) -> None:
    """The first text is answered wrongly, the second by a box that was begun anew."""
    limits = _PATIENT.model_copy(update={"entry_seconds": 1.0})
    code = UNRULY[name] + _GOOD_AT_THE_SECOND
    [[first], [second]] = asked(
        boxed(tmp_path, code, limits, entry="method:good_later"), ["one"], ["two"]
    )
    assert first.error_class in {ErrorClass.METHOD, ErrorClass.MALFORMED, ErrorClass.TIMEOUT}
    assert second.text == "two"


_GOOD_AT_THE_SECOND = """
def good_later(texts):
    return texts if texts == ["two"] else translate(texts)
"""
