"""An opened text that nothing shows, writes or copies by accident.

``str``, ``repr``, formatting, pickling, copying and JSON are refused, so that no log, traceback, cache or card takes
the text along. Anyone who needs it calls ``reveal``, which stands where it is searched for. That is a guard against
accidents: code of the same process that means to read it can, and Python cannot wipe memory.
"""

from __future__ import annotations

from typing import Never, SupportsIndex, final


@final
class SecretText:
    """One text from a vault; two of them are equal only where they are the same object."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text itself; hand it on to what needs it, and keep it nowhere."""
        return self._text

    def __str__(self) -> Never:
        raise _refused("shown")

    def __repr__(self) -> Never:
        raise _refused("shown")

    def __format__(self, form: str) -> Never:
        raise _refused("formatted")

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        raise _refused("copied or pickled")

    def __getstate__(self) -> Never:
        raise _refused("copied or pickled")


def _refused(done: str) -> TypeError:
    return TypeError(f"A text of a vault is not {done}: call reveal() where it is needed.")


def no_core_dumps() -> None:
    """Prevent the system from writing memory of this process to a file when it crashes, where it can be asked.

    On Linux a program that takes dumps through a pipe decides itself; systemd's and Ubuntu's keep to the limit.
    """
    try:
        import resource
    except ImportError:  # Windows writes none unless its owner asked for them
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
