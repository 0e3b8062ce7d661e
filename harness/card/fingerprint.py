"""Which experiment a run was: two runs with the same fingerprint had the same set-up (§3.8, C3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.card.model import Fingerprint
from harness.core.canonical import canonical_sha256
from harness.method.method import Setup

_BESIDE = (
    "method",
    "method_class",
    "method_version",
    "method_sha256",
    "provider",
    "max_tokens",
    "prompt_version",
    "coaching_data_sha256",
    "outputs_sha256",
    "fst_sha256",
    "tools_enabled",
    "batch_size",
    "max_retries",
    "replicate",
    "options",
)
"""Fields of the set-up that the specification's six components leave out."""


def fingerprint(setup: Setup, dataset_sha256: str, harness_version: str) -> Fingerprint:
    """Return both identifiers of an experiment.

    ``hash`` covers exactly the six components of §3.8. ``setup_hash`` covers those and everything
    else that the method was given, so that two different plug-ins never share it; runs are grouped
    and de-duplicated by it. Raises UsageError where an option cannot be written as canonical JSON.
    """
    components = {
        "dataset_sha256": dataset_sha256,
        "model_slug": setup.model_slug,
        "condition": setup.condition,
        "system_prompt_sha256": setup.system_prompt_sha256,
        "temperature": setup.temperature,
        "harness_version": harness_version,
    }
    stated = setup.model_dump(mode="json")
    setup_components = {**components, **{name: stated[name] for name in _BESIDE}}
    setup_components["tools_enabled"] = sorted(setup.tools_enabled)
    return fingerprint_of(components, setup_components)


def fingerprint_of(
    components: Mapping[str, Any], setup_components: Mapping[str, Any]
) -> Fingerprint:
    """Hash the components of a fingerprint, each set as one canonical JSON object."""
    return Fingerprint(
        hash=canonical_sha256(components),
        setup_hash=canonical_sha256(setup_components),
        components=dict(components),
        setup_components=dict(setup_components),
    )
