"""Rosetta in a notebook or a script: translate, score and compare with the same rules as the program ``rosetta``.

Importing loads nothing heavy: a function is loaded when it is first named.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from corpora.files.problems import CorpusError
    from harness.core.failures import HarnessError
    from rosetta.functions import compare, load, metric, run, runs, score, start, verdict, verify
    from rosetta.stored_run import RunHandle

__all__ = [
    "CorpusError", "HarnessError", "RunHandle", "compare", "load", "metric", "run", "runs", "score",
    "start", "verdict", "verify",
]  # fmt: skip

_ELSEWHERE = {
    "CorpusError": "corpora.files.problems",
    "HarnessError": "harness.core.failures",
    "RunHandle": "rosetta.stored_run",
}


def __getattr__(name: str) -> object:
    """Load what is named."""
    if name not in __all__:
        raise AttributeError(f"module 'rosetta' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_ELSEWHERE.get(name, "rosetta.functions")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List what is public."""
    return __all__
