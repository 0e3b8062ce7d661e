"""The two lanes in which a bundle becomes a ``Method``: code in the box, data through this program's own methods."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import filelock

from corpora.model.entry import Entry
from harness import privacy
from harness.box import boxed, engines, gateway
from harness.box.boxed import BoxedMethod
from harness.box.engine import BoxedCode, Limits
from harness.core.calls import Calls, Reply, Request
from harness.core.failures import UsageError
from harness.core.storage import PRIVATE, private_folder, write_file
from harness.endpoint.endpoints import find_key, is_loopback, no_key
from harness.method.method import Method, MethodClass, Output, Setup
from harness.method.method_names import NUMBER_LETTERS, SUBMITTED
from harness.method.option_table import METHODS, OPTIONS, OptionKind
from harness.method.options import MethodOptions
from harness.shipped_methods.registry import build
from harness.submission import FOLDER, UNPACKED
from harness.submission.bundle import CodeLane, DataLane, Submission, unpack_into
from harness.submission.desk import LOCK
from harness.submission.members import CODE, DATA, WHEELS, requirements

_CHOSEN_HERE: Final = frozenset({"endpoint", "model", "prices", "body"})
"""Options that are the organisation's: which model is asked, where, and at what price."""
_FILES: Final = frozenset(
    option.name
    for option in OPTIONS.values()
    if option.kind in (OptionKind.FILE, OptionKind.FILE_OR_NAME) and (option.needed_by or option.taken_by)
) - {*_CHOSEN_HERE, "outputs"}
"""Options that name a file of the bundle."""

MOST_AT_ONCE: Final = 32
"""Texts in one call of a submission."""


@dataclass(frozen=True, slots=True)
class ModelHere:
    """The model that the organisation lets a submission ask; without one none is asked."""

    endpoint: str
    model: str

    def __str__(self) -> str:
        return f"{self.model} at {self.endpoint}"


@dataclass(frozen=True, slots=True)
class LanePlan:
    """How a bundle is asked for at the door: the name of the method, and its options."""

    method: str
    told: Mapping[str, Any]


def told_by(lane: DataLane, folder: Path | None = None) -> dict[str, Any]:
    """Return the options of a lane of data by name, its files as paths below ``folder``.

    Raises UsageError for an option that the method does not take or that is not the maker's to choose, and for one that is
    missing.
    """
    allowed = {*METHODS[lane.method].needs, *METHODS[lane.method].takes} - _CHOSEN_HERE
    for name in lane.options:
        if name not in allowed - _FILES:
            words = f"The option {name!r} is not one that a submission gives {lane.method}."
            raise UsageError(words)
    for name in lane.files:
        if name not in allowed & _FILES:
            raise UsageError(f"The method {lane.method} reads no file {name!r}.")
    asked_at_once = lane.options.get("batch_size", 1)
    if isinstance(asked_at_once, int | float) and asked_at_once > MOST_AT_ONCE:
        raise UsageError(
            f"The option 'batch_size' is {asked_at_once:g}, and a submission asks {MOST_AT_ONCE} texts at once at most: one call has "
            "its time for each of them, and as long nobody here can tell whether it still works. Lower it, and make the run of the card again."
        )
    given = {*lane.options, *lane.files}
    for name in METHODS[lane.method].needs:
        if name not in given | _CHOSEN_HERE:
            words = f"The method {lane.method} needs {name!r}. Name it in submission.toml."
            raise UsageError(words)
    place = folder or Path(DATA)
    files: dict[str, Any] = {name: place.joinpath(*path.rstrip("/").split("/")) for name, path in lane.files.items()}
    if "prompt" in files:
        files["prompt"] = str(files["prompt"])  # a version or a file, as text
    return {**lane.options, **files}


def asks_models(submission: Submission) -> bool:
    """Return whether nothing comes of a bundle without a model that the organisation chooses."""
    lane = submission.manifest.method
    return isinstance(lane, DataLane) and "endpoint" in METHODS[lane.method].needs


@contextmanager
def unpacked(submission: Submission, home: Path) -> Iterator[Path]:
    """Yield a private folder with the bundle's members, which is gone afterwards; what a kill left of others too.

    Another thread may end it than began it. Raises UsageError where another program is at the same bundle.
    """
    own = private_folder(home / FOLDER / submission.sha256[:NUMBER_LETTERS])
    try:
        with filelock.FileLock(own / LOCK, timeout=0, mode=PRIVATE, thread_local=False):
            above = private_folder(own / UNPACKED)
            for left in above.iterdir():
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=above) as name:
                folder = Path(name)
                for part in (CODE, DATA, WHEELS):
                    unpack_into(submission.below(part), folder / part)
                if submission.below(WHEELS):
                    pinned = requirements(submission.members).encode()
                    write_file(folder / "requirements.txt", pinned, overwrite=False)
                yield folder
    except filelock.Timeout:
        raise UsageError("Another program is running this submission. Wait until it is done.") from None


def lane_plan(submission: Submission, folder: Path, model: ModelHere | None) -> LanePlan:
    """Return how the bundle in ``folder`` is asked for at the door.

    Raises UsageError where it asks a model and none was chosen.
    """
    lane = submission.manifest.method
    options: dict[str, Any] = {"method_name": submission.manifest.name[:100], "use_cache": False}
    if isinstance(lane, CodeLane):
        return LanePlan(SUBMITTED, options)
    if asks_models(submission):
        if model is None:
            made = f" It was made with {lane.made_for}." if lane.made_for else ""
            raise UsageError(
                f"This submission asks a model, which you choose: --endpoint and --model, on this computer.{made}"
            )
        options |= {"endpoint": model.endpoint, "model": model.model}
    return LanePlan(lane.method, options | told_by(lane, folder))


def code_method(submission: Submission, folder: Path, model: ModelHere | None, *, open_data: bool) -> Method:
    """Return the code of a bundle as a method in the box.

    Raises HarnessError where no box can be made on this computer, with what to install.
    """
    manifest = submission.manifest
    assert isinstance(manifest.method, CodeLane)  # noqa: S101  asked for its lane alone
    pinned = folder / "requirements.txt"
    wheels = pinned.exists()
    code = BoxedCode(
        folder / CODE,
        manifest.method.entry,
        pinned if wheels else None,
        folder / WHEELS if wheels else None,
        manifest.method.options,
    )
    setup = Setup(
        method=SUBMITTED,
        method_name=manifest.name[:100],
        method_class=MethodClass.CUSTOM_PLUGIN,
        method_version=manifest.release or "1",
        method_sha256=submission.sha256,
        model_slug=SUBMITTED if model is None else model.model,
        provider=None,
        condition="submission",
    )
    way = None if model is None else gateway.gateway(model.endpoint, [model.model], find_key)
    engine = engines.find_engine()
    return boxed.boxed_method(code, Limits(), engine, way, setup, open_data=open_data)


def require_kept_here(
    submission: Submission, place: Path, plan: LanePlan, model: ModelHere | None, *, trusted: bool
) -> None:
    """Raise what would keep a submission from running here over texts that stay on this computer, before one is opened.

    HarnessError where no box can be made, and UsageError where its model is on another machine or nobody answers for its
    server; ``trusted``: a person does now.
    """
    manifest = submission.manifest
    if isinstance(manifest.method, CodeLane):
        made = code_method(submission, place, model, open_data=False)
    else:
        options = {n: v for n, v in plan.told.items() if n in MethodOptions.model_fields}
        tags = {"source_language": manifest.source_language, "target_language": manifest.target_language}
        made = build(plan.method, MethodOptions(**{**tags, **options}), find_key=no_key)
    if made.endpoint is None:
        return
    if not is_loopback(made.endpoint) or privacy.is_cloud_model(made.setup.model_slug):
        raise UsageError(f"{made.setup.model_slug} at {made.endpoint} is on another machine, or of a cloud, and these entries stay on this one. Name a model that runs here (--endpoint, --model).")  # fmt: skip
    if not trusted and made.endpoint not in privacy.answered():
        raise privacy.NobodyAnswersForServer(made.endpoint)


def handed_in(method: Method, submission: Submission) -> Method:
    """Return a method of this program with somebody else's data, of which the card names the bundle that it came from."""
    setup = method.setup.model_copy(update={"method_sha256": submission.sha256})
    if isinstance(method, BoxedMethod):
        method.setup = setup
        return method
    return HandedIn(method, setup)


def asked_by(method: Method) -> int:
    """Return how many questions a submission's method has put to a model; one that was tried again counts once."""
    return method.asked if isinstance(method, BoxedMethod | HandedIn) else 0


class HandedIn:
    def __init__(self, method: Method, setup: Setup) -> None:
        self._method = method
        self.endpoint = method.endpoint
        self.setup = setup
        self.asked = 0
        """Questions that went to its model."""

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
        return await self._method.translate(entries, _CountedCalls(calls, self))


class _CountedCalls:
    """Carries calls and counts them with the method that asks."""

    def __init__(self, calls: Calls, method: HandedIn) -> None:
        self._calls = calls
        self._method = method

    async def send(self, request: Request) -> Reply:
        self._method.asked += 1
        return await self._calls.send(request)
