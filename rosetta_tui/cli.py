"""The command line's front door: help at once, commands on demand, failures in words.

Exit codes are those of ``front.EXIT_CODES``. For the help page no library is loaded, ``typing`` and ``importlib``
included; what a failure needs is imported when it is reported, for our own files may be what is damaged. Ctrl-C ends it in
one word at any moment from here on, also while libraries are being imported.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # ``signal`` itself costs as much as the help page
import atexit
import gc
import io
import os
import sys
from collections.abc import Callable, Sequence

from rosetta_tui.front import DONE, FAILED, INTERRUPTED, MISUSED, PACKAGES, help_text, version_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    import click


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; never returns. Without ``arguments`` it is the process's own, and obeys its Ctrl-C."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(_ended(lambda: _answered(given), own=arguments is None))


def window() -> int:
    """Start the reviewer's window (``rosetta-review``); gives the exit code."""
    return _ended(_window, own=True)


def _answered(given: list[str]) -> int:
    """Run a command; gives its exit code."""
    _write_any_text()
    _check_packages()
    if given[:1] == ["help"]:
        given = [*given[1:], "-h"]
    if given in (["--help"], ["-h"], ["--version"]):
        # Write the page; what reads it may be gone, or its disk full.
        try:
            sys.stdout.write(version_text() if given == ["--version"] else help_text())
            sys.stdout.flush()
        except OSError as error:
            return _unwritten(error)
        return DONE
    if given[:1] == ["completion"] and len(given) == 3:  # a shell asks at each TAB: no library for it
        from rosetta_tui.completion import answer

        sys.stdout.write(answer(given[2]))
        return DONE
    return _run(given)


def _window() -> int:
    from importlib import import_module

    _write_any_text()
    _check_packages()
    try:
        code: int = import_module("review.desktop.program.program").main()
    except Exception as error:  # noqa: BLE001  every failure becomes words
        return _broken(error)
    return code


def _ended(work: Callable[[], int], *, own: bool) -> int:
    """Run a process and return its exit code; where it is ``own``, Ctrl-C neither cuts an import short nor disturbs the end."""
    if own:
        _signal.signal(_signal.SIGINT, _interrupted)
        # Replace a standard stream that is closed by one that gives and keeps nothing.
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:
                null = os.open(os.devnull, os.O_RDWR)  # stays open as long as the process
                setattr(sys, name, io.TextIOWrapper(io.FileIO(null, mode, closefd=False), "utf-8"))
    try:
        code = work()
        _no_longer(own=own)
    except KeyboardInterrupt:
        _no_longer(own=own)
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    return code


def _no_longer(*, own: bool) -> None:
    if own:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _interrupted(_: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; in the midst of an import as soon as anyone who imports continues."""
    importing = None
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            importing = frame.f_back
        frame = frame.f_back
    if importing is None:
        raise KeyboardInterrupt
    importing.f_trace = _raise
    sys.settrace(lambda *_: None)  # or no frame's trace is called


def _raise(*_: object) -> None:
    sys.settrace(None)
    raise KeyboardInterrupt


_OPENING = frozenset({"run", "demo", "resume", "retry", "watch", "open"})  # commands that open a screen
_NOT_SHOWN = frozenset({"--plain", "--json-lines", "--help", "-h", "--version"})


def _write_any_text() -> None:
    """Configure the streams so that no text fails for a letter: pipes get UTF-8, terminals an escape for what they lack."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _run(arguments: list[str]) -> int:
    # our matrices are small: more threads would only take the cores from the run and the screen
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Print at once, where a screen is to open on a terminal, that it is coming; its first frame
    # takes the line's place.
    opens = not arguments or arguments[0] in _OPENING
    terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    if opens and terminal and not _NOT_SHOWN & set(arguments):
        sys.stderr.write("preparing …\r")
        sys.stderr.flush()
    # next to nothing of ours is cyclic: looking for it as often as Python does takes a tenth of a run's time, and
    # once is a twentieth of a short command's
    gc.set_threshold(100_000, 50, 50)
    # nor is there any sense in looking for it at the very end, which Python does several times
    atexit.register(gc.freeze)
    import click

    try:
        from rosetta_tui.commands import rosetta

        code = rosetta.main(args=arguments, prog_name="rosetta", standalone_mode=False)
    except click.ClickException as error:
        return _misused(error)
    except click.Abort as error:
        if isinstance(error.__context__, EOFError) and not sys.stdin.isatty():
            # Print that what answers questions ended before the answer; at a terminal that is a person
            # who leaves.
            words = "Nobody is there to answer: standard input is closed, or ended before the answer. Run it in a terminal, or see with -h which option answers."
            print(f"error: {words}", file=sys.stderr)
            return MISUSED
        raise KeyboardInterrupt from None
    except OSError as error:
        return _unwritten(error)
    except Exception as error:  # noqa: BLE001  every failure becomes words
        return _explain(error)
    return code if isinstance(code, int) else DONE


def _misused(error: click.ClickException) -> int:
    """Print what is wrong with the usage; a group without its command shows its help."""
    import click

    from rosetta_tui.commands.naming import usage_lines

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    else:
        for line in usage_lines(error):
            print(line, file=sys.stderr)
    return error.exit_code


def _unwritten(error: OSError) -> int:
    """Print why a stream or file could not be used, and what to do; what the buffer holds must not fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return FAILED
    from harness.core.storage import is_about_the_place, mend_of
    from rosetta_tui.commands.naming import error_lines

    about = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    for line in error_lines(f"{about}{error.strerror or type(error).__name__}. {mend_of(error)}"):
        print(line, file=sys.stderr)
    return MISUSED if about and is_about_the_place(error) else FAILED


def _explain(error: Exception) -> int:
    """Print a known failure in words and return its exit code; anything else is a fault of ours, or of our files."""
    try:
        from corpora.files.problems import CorpusError
        from harness.core.failures import HarnessError, UsageError
        from rosetta_tui.commands.naming import error_lines
    except Exception:  # noqa: BLE001  the files that would say it are not ours any more
        return _broken(error)
    if not isinstance(error, CorpusError | HarnessError):
        return _broken(error)
    for line in error_lines(str(error)):
        print(line, file=sys.stderr)
    return MISUSED if isinstance(error, CorpusError | UsageError) else FAILED


def _broken(error: Exception) -> int:
    """Print that another package wrote over our files where one did, else where the program failed."""
    from rosetta_tui.own_files import start_words

    words = start_words()
    if not words:
        from rosetta_tui.show.crash import crash_text

        words = crash_text(error)
    print(words, file=sys.stderr)
    return FAILED


def _check_packages() -> None:
    """Refuse to mix our packages with others of the same names (DESIGN §3)."""
    if len({_home(name) for name in PACKAGES}) > 1:
        from rosetta_tui.own_files import scattered_words

        sys.exit(f"error: {scattered_words()}")


def _home(package: str) -> str:
    """Return the folder that holds a package, which is not imported for it; empty where none is found."""
    specs = (finder.find_spec(package, None) for finder in sys.meta_path)
    origin = next((spec.origin for spec in specs if spec is not None), None)
    return os.path.dirname(os.path.dirname(origin or ""))  # noqa: PTH120  pathlib costs start-up time
