"""An asyncio loop whose clock jumps to the next timer instead of waiting for it."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

P = ParamSpec("P")


class _Jumping:
    """A selector that never waits: time that would have passed is added to the clock.

    Only for code without sockets: with no timer and nothing ready it would wait for ever, which is
    reported as the deadlock that it is.
    """

    def __init__(self, inner: selectors.BaseSelector) -> None:
        self.inner = inner
        self.now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = self.inner.select(0)
        if ready:
            return ready
        if timeout is None:
            raise AssertionError("everything waits for something that never comes")
        self.now += timeout
        return []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class VirtualLoop(asyncio.SelectorEventLoop):
    """``time()`` and the timers agree; nothing really waits."""

    def __init__(self) -> None:
        self._jumping = _Jumping(selectors.DefaultSelector())
        super().__init__(self._jumping)  # type: ignore[arg-type]
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self._jumping.now


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a test's coroutine in virtual time; a deadlock is an AssertionError."""

    @wraps(test)
    def run(*args: P.args, **given: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(test(*args, **given))

    return run
