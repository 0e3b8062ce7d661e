"""How much a boxed method may take of the computer, and how long."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Bytes = Annotated[int, Field(ge=1 << 20)]
_Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Limits(BaseModel):
    """What a boxed method may take; each is held by the system or by us, whatever the method does."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_bytes: _Bytes = 4 << 30
    """Memory: of the whole box where there is a control group, else of each of its processes."""
    processes: Annotated[int, Field(ge=4)] = 128
    """Processes and threads at once."""
    disk_bytes: _Bytes = 2 << 30
    """What it may write in all, to /tmp and to /dev/shm; it is memory, and gone with the box."""
    install_seconds: _Seconds = 600
    """Until its wheels are installed."""
    load_seconds: _Seconds = 300
    """Until its entry point is loaded."""
    entry_seconds: _Seconds = 120
    """For one text; a call with several has so much for each of them."""
    all_seconds: _Seconds = 24 * 3600
    """For everything together."""
    answer_characters: Annotated[int, Field(ge=1, le=1 << 20)] = 20_000
    """In one output."""
    restarts: Annotated[int, Field(ge=0)] = 5
    """How often it is begun again after a text at which it failed; afterwards all that is left fails."""

    @property
    def line_bytes(self) -> int:
        """Return how long a line of its answers may be: each character as two escapes, and what stands around it."""
        return 12 * self.answer_characters + 200

    @property
    def shared_bytes(self) -> int:
        """Return the part of the disk that is for memory shared between processes (``/dev/shm``)."""
        return self.disk_bytes // 8

    def by_file(self) -> dict[str, int]:
        """Return what the first process limits of its files alone, where processes cannot be limited apart."""
        return {"RLIMIT_FSIZE": self.disk_bytes, "RLIMIT_NOFILE": 1024, "RLIMIT_CORE": 0}

    def by_resource(self, *, whole_box: bool) -> dict[str, int]:
        """Return what the first process in a box limits for itself and its children, by the names of ``resource``.

        ``whole_box`` tells that a control group limits the memory of all of them together.
        """
        memory = {} if whole_box else {"RLIMIT_AS": self.memory_bytes}
        return memory | {
            **self.by_file(),
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_MSGQUEUE": 0,
        }
