"""The bundled Esperanto demo, so that a first run needs no key, no network and no file.

The README of this folder says what each file holds, its licence and its limits.
"""

from pathlib import Path

DEMO_CORPUS = "eo-demo-v1.json"
"""The corpus, in the schema of benchmark-specification §2."""
DEMO_STRONG = "eo-demo-outputs-strong.jsonl"
"""Recorded outputs of the imaginary system Verda, which is mostly right."""
DEMO_WEAK = "eo-demo-outputs-weak.jsonl"
"""Recorded outputs of the imaginary system Griza, which translates word by word."""
DEMO_GLOSSARY = "eo-demo-glossary.tsv"
"""English words with their Esperanto counterparts, for the glossary method."""
DEMO_COACHING = "eo-demo-coaching.json"
"""Grammar notes, examples and a dictionary, for coached methods."""
DEMO_PLAN = "demo.toml"
"""The plan of a sweep over the corpus that needs no key and no network."""

DEMO_TASKS = {"qa": "eo-demo-qa", "asr": "eo-demo-asr", "function_call": "eo-demo-function-call"}
"""Other tasks that have a corpus and outputs of both systems → beginning of their names."""


def demo_files(task: str) -> tuple[str, str, str]:
    """Return the names of a task's corpus, of Verda's outputs and of Griza's."""
    if task not in DEMO_TASKS:
        return DEMO_CORPUS, DEMO_STRONG, DEMO_WEAK
    name = DEMO_TASKS[task]
    return f"{name}-v1.json", f"{name}-outputs-strong.jsonl", f"{name}-outputs-weak.jsonl"


SAMPLES = (
    *demo_files("translation"),
    DEMO_GLOSSARY,
    DEMO_COACHING,
    DEMO_PLAN,
    *(file for task in DEMO_TASKS for file in demo_files(task)),
)


def sample_path(name: str) -> Path:
    """Path of a bundled file, whose name is one of SAMPLES.

    A caller opens it like a file of the user's own, so the demo takes no special road.
    Raises ValueError for any other name, so that no path can be built out of the folder.
    """
    if name not in SAMPLES:
        raise ValueError(f"{name!r} is no bundled sample. Use one of: {', '.join(SAMPLES)}.")
    return Path(__file__).with_name(name)
