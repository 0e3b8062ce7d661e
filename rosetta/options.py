"""What a run can be told, by name: the options of ``rosetta run``, typed for editors and type checkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

File = str | Path


class Choosing(TypedDict, total=False):
    """Which entries of a corpus take part; without any of these, all."""

    entries: Sequence[str | int]
    """Ids."""
    segment: Sequence[str]
    """``development``, ``diagnostic``, ``gold_standard``, ``held_out``."""
    difficulty: Sequence[int]
    """1 to 5."""
    sample: int
    """So many at random."""
    seed: int
    """Of the sample."""
    limit: int
    """At most so many, the first ones."""


class Scoring(Choosing, total=False):
    """What outputs are scored with, and where metrics find what they need."""

    metrics: str | Sequence[str]
    """Names of metrics or packs, such as ``chrf`` or ``lbrag``; without it what the corpus's task says."""
    multi_ref: bool
    """Score chrF++, BLEU and TER against the variants too."""
    language_card: File
    analyser: File
    """Morphological analyser (``.hfstol``)."""
    terms: File
    """Prescribed terms."""
    gloss_dictionary: File
    embeddings: str
    """Endpoint or folder."""
    embeddings_model: str
    judge: str
    """Endpoint of a model that judges outputs."""
    judge_model: str
    comet: File
    """Checkpoint, or a file of its scores."""
    condition: str
    """Label of the experiment."""
    model: str
    """Model that is asked, or name of the system that made the outputs."""
    replicate: int
    """Which repetition of the same experiment this is."""
    tags: Sequence[str]
    """Words to find the run again."""
    note: str
    """Your own words beside the run; they stay on this computer."""


class Options(Scoring, total=False):
    """How a run translates, and how it goes about its calls."""

    endpoint: str
    """A preset (``ollama``, ``openai``, ``openrouter`` …) or a URL."""
    temperature: float | None
    """None: the endpoint's own."""
    max_tokens: int | None
    """Most output tokens of a call."""
    prompt: str
    """A file, or a version that is shipped, such as ``plain-v1``."""
    coaching: File
    """Grammar notes, examples and dictionary."""
    batch_size: int
    """Entries in one call."""
    body: Mapping[str, Any]
    """More for the body of each call."""
    max_retries: int
    """Tries of a pipeline after a rejection."""
    checks: Sequence[str]
    tools: Sequence[str]
    glossary: File
    word_list: File
    outputs: File
    """Outputs made elsewhere, for the methods ``replay`` and ``human``."""
    translator: str
    text: str
    """What the method ``constant`` answers."""
    service: str
    region: str
    prices: File
    """Your own price table."""
    source_name: str
    target_name: str
    settings: Mapping[str, Any]
    """Told to a plug-in."""
    budget: float
    """Most US dollars to spend."""
    concurrency: int
    """Most calls at once."""
    timeout: float
    """Seconds for one call."""
    attempts: int
    """Most tries at one call."""
    use_cache: bool
    """False asks again, even what was answered before."""
    offline: bool
    """Refuse every connection to another machine."""
    trust_local_server: bool
    """You say that the server on this machine forwards no secret text."""
    keep_failed: bool
    """Seal the run also where entries failed for want of a connection."""
