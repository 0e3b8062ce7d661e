"""A limit of memory for a whole box by the systemd of a user's session, whose program is played here, for want of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.box.control_groups import control_group
from harness.box.limits import Limits
from tests.harness.box.making import SMALL, asked, boxed, needs_engine

LOOKS = """
import os
def translate(texts):
    with open("/proc/1/environ") as first, open("/proc/self/limits") as limits:
        memory = [line.split()[3] for line in limits if line.startswith("Max address space")]
        return [" ".join([*memory, *first.read().split(chr(0))]).strip()]
"""
PLAYS = """#!/bin/sh
printf "%s " "$@" | tr "\\n" " " >> {log}
echo >> {log}
for each; do case "$each" in MemoryMax=*) most=${{each#MemoryMax=}};; esac; done
while [ "$1" != -- ]; do shift; done
shift
case "$*" in *memory.max*) echo {said}; exit;; esac
exec "$@"
"""


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session of systemd's in which this user may make no group; its program is written by the test."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/of-nobody")
    made = "harness.box.control_groups._made"  # root makes groups, an ordinary user none
    monkeypatch.setattr(made, lambda limits: None)
    return folder / "systemd-run"


def _written(path: Path, said: str) -> Path:
    log = path.with_name("log")
    path.write_text(PLAYS.format(log=log, said=said), encoding="utf-8")
    path.chmod(0o755)
    return log


@needs_engine
def test_a_box_of_an_ordinary_user_is_begun_in_a_scope(played: Path, tmp_path: Path) -> None:
    log = _written(played, "$most")
    [[output]] = asked(boxed(tmp_path / "code", LOOKS), ["a"])
    assert output.text == "unlimited PWD=/"
    last = log.read_text("utf-8").splitlines()[-1]
    assert last.startswith("--user --scope --quiet --collect --property MemoryMax=536870912 ")
    assert "--property MemorySwapMax=0 -- " in last


@needs_engine
def test_a_scope_whose_limit_the_kernel_does_not_hold_is_not_used(
    played: Path, tmp_path: Path
) -> None:
    log = _written(played, "max")
    [[output]] = asked(boxed(tmp_path / "code", LOOKS), ["a"])
    assert output.text == f"{SMALL.memory_bytes} PWD=/"
    assert "bwrap" not in log.read_text("utf-8")


def test_without_a_session_nothing_is_asked(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _written(played, "$most")
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    with control_group(Limits()) as joining:
        assert joining == []
    assert not log.exists()
