"""A sweep of three axes in the middle, for whatever shows one."""

from __future__ import annotations

from tests.harness.sweep.made import MadeCell

AXES = {
    "model": ("qwen2.5:7b", "gemma2:9b", "source copied"), "temperature": ("0", "0.7"),
    "coaching": ("none", "notes"),
}  # fmt: skip


def cells() -> list[MadeCell]:
    """A sweep in the middle: complete, running, waiting and stopped runs, one with other inputs, two repetitions."""

    def chat(model: str, heat: str, coaching: str, *told: float, **other: object) -> MadeCell:
        labels = {"model": model, "temperature": heat, "coaching": coaching}
        kind = "raw-llm" if coaching == "none" else "coached-llm"
        return MadeCell(labels, *told, **{"kind": kind, **other})  # type: ignore[arg-type]

    qwen, gemma, copied = AXES["model"]
    return [
        chat(qwen, "0", "none", 0.412, 44.1, 0.0004, 0.82),
        chat(qwen, "0", "none", 0.436, 45.3, 0.0004, 0.80, replicate=1),
        chat(qwen, "0", "notes", 0.633, 60.2, 0.0011, 1.12),
        chat(qwen, "0", "notes", 0.645, 61.0, 0.0011, 1.16, replicate=1),
        chat(qwen, "0.7", "none", 0.391, 41.7, 0.0004, 0.84),
        chat(qwen, "0.7", "none", state="waiting", replicate=1),
        chat(qwen, "0.7", "notes", 0.71, 63.9, 0.0012, 1.2, inputs=("chrf_plus_plus",)),
        chat(qwen, "0.7", "notes", state="running", replicate=1),
        chat(gemma, "0", "none", 0.524, 52.0, 0.0009, 1.4),
        chat(gemma, "0", "none", 0.518, 51.5, 0.0009, 1.5, replicate=1),
        chat(gemma, "0", "notes", 0.688, 64.4, 0.0021, 1.9),
        chat(gemma, "0", "notes", 0.676, 63.8, 0.0021, 1.8, replicate=1),
        chat(gemma, "0.7", "none", state="stopped", trouble="401: the key was refused"),
        chat(gemma, "0.7", "none", state="stopped", replicate=1),
        chat(gemma, "0.7", "notes", state="waiting"),
        chat(gemma, "0.7", "notes", state="waiting", replicate=1),
        MadeCell({"model": copied}, 0.152, 14.2, 0.0, 0.01, "custom-plugin", "copy-source"),
    ]
