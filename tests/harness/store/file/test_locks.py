"""Storage that refuses locks, and storage that grants every one: named as such, by the store and by the doctor."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.store.file import copies
from harness.store.file.copies import Locks, examine_locks
from harness.store.file.database import open_store

STORAGE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int answer(const char *name, int file, int command, void *lock) {
    if ((command == F_SETLK || command == F_SETLKW) && ((struct flock *)lock)->l_type != F_UNLCK) {
        errno = ERROR;
        return ERROR ? -1 : 0;
    }
    int (*real)(int, int, ...) = dlsym(RTLD_NEXT, name);
    return real(file, command, lock);
}
#define PASS(NAME) int NAME(int file, int command, ...) { va_list more; va_start(more, command); \\
    void *lock = va_arg(more, void *); va_end(more); return answer(#NAME, file, command, lock); }
PASS(fcntl)
PASS(fcntl64)
"""
"""A library that stands between a program and the system; ERROR: what every lock fails with, 0: none does."""

USE = """
import json, sys
from pathlib import Path
from harness.core.failures import StoreError
from harness.doctor.data import data
from harness.store.file.database import open_store
path = Path(sys.argv[1])
try:
    said = open_store(path).close() or ""
except StoreError as error:
    said = str(error)
print(json.dumps([said, {each.name: [each.health, each.words] for each in data(path.parent)}]))
"""


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="needs a C compiler")
@pytest.mark.parametrize(
    ("error", "refusal", "finding"),
    [
        (errno.ENOLCK, "locks do not work in its folder", "locks do not work in"),
        (0, "", "two programs can lock one file"),
    ],
)
def test_storage_without_working_locks_is_named(
    tmp_path: Path, error: int, refusal: str, finding: str
) -> None:
    source, library = tmp_path / "storage.c", tmp_path / "storage.so"
    source.write_text(STORAGE)
    build = ["cc", "-shared", "-fPIC", f"-DERROR={error}", "-o", str(library), str(source), "-ldl"]
    subprocess.run(build, check=True, capture_output=True)
    path = tmp_path / "data" / "rosetta.sqlite"
    open_store(path).close()
    done = subprocess.run(
        [sys.executable, "-P", "-c", USE, path],
        env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    said, findings = json.loads(done.stdout)
    assert refusal in said
    assert bool(said) == bool(refusal)
    assert findings["locks"][0] == "broken"
    assert finding in findings["locks"][1]
    assert refusal in findings["store"][1]
    assert [each.name for each in path.parent.glob(".locks-*")] == []


def test_locks_of_a_disk_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert examine_locks(tmp_path) is Locks.WORK
    assert examine_locks(tmp_path / "nowhere") is Locks.UNKNOWN
    monkeypatch.setattr(copies, "SECOND_PROCESS", "sys.exit(1)")
    assert examine_locks(tmp_path) is Locks.UNKNOWN
    assert [*tmp_path.iterdir()] == []
