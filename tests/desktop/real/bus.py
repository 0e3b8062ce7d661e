"""A message bus of a test's own, with the service on which programs show themselves, and an input method."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection

from tests.desktop.real.display import program, running
from tests.desktop.real.waiting import until

CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><keep_umask/><listen>unix:path={path}</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>"""
"""It starts no program by itself: what runs here is what a test started."""
_A11Y = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")


@dataclass(frozen=True)
class Bus:
    """Where programs meet."""

    address: str
    accessibility: str
    """Address of the bus on which they show what is on the screen."""

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to meet others, and to show itself without being asked first."""
        return {
            "DBUS_SESSION_BUS_ADDRESS": self.address,
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }


@contextlib.contextmanager
def bus(folder: Path, environment: Mapping[str, str]) -> Iterator[Bus]:
    """Start both; they go at the end."""
    socket, config = folder / "bus", folder / "bus.conf"
    config.write_text(CONFIG.format(path=socket))
    address = f"unix:path={socket}"
    around = {**environment, "DBUS_SESSION_BUS_ADDRESS": address}
    daemon = [program("dbus-daemon"), "--nofork", "--nopidfile", f"--config-file={config}"]
    launcher = [program("at-spi-bus-launcher"), "--launch-immediately", "--a11y=1"]
    with running(daemon, around, log=folder / "bus.log"):
        until(socket.exists, "a message bus")
        with running(launcher, around, log=folder / "a11y.log"):
            yield Bus(address, until(lambda: _accessibility(address), "a bus for screen readers"))


def _accessibility(address: str) -> str | None:
    with open_dbus_connection(address) as connection:
        reply = connection.send_and_get_reply(new_method_call(_A11Y, "GetAddress"))
    return str(reply.body[0]) if reply.header.message_type.name == "method_return" else None


# a real input method: IBus with the tables of m17n, as communities type syllabics with it


WESTERN_CREE = "m17n:cr:western"


@contextlib.contextmanager
def input_method(
    folder: Path, environment: Mapping[str, str], engine: str
) -> Iterator[dict[str, str]]:
    """Start IBus with this engine chosen; gives what a program needs to be typed in through it."""
    if not Path("/usr/share/ibus/component/m17n.xml").exists():
        pytest.skip("ibus-m17n is not installed")
    command = [
        program("ibus-daemon"), "--panel=disable", "--emoji-extension=disable", "--cache=none",
        f"--config={program('ibus-memconf')}",
    ]  # fmt: skip
    with running(command, environment, log=folder / "ibus.log"):

        def chosen() -> bool:
            _ibus(environment, "engine", engine)
            return _ibus(environment, "engine") == engine

        until(chosen, f"the input method {engine}")
        yield {"QT_IM_MODULE": "ibus"}


def _ibus(environment: Mapping[str, str], *wishes: str) -> str:
    done = subprocess.run(
        [program("ibus"), *wishes],
        env=dict(environment),
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.stdout.strip()
