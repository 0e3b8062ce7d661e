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
    """Number of entries to draw at random."""
    seed: int
    """Of the sample."""
    limit: int
    """Number of entries at most, the first ones."""


class RecordFields(TypedDict, total=False):
    """What a record has beside source and reference where the task is no translation (docs/corpora.md)."""

    evidence: Sequence[Mapping[str, Any]]
    """qa: texts that were found, ``{"text": …, "token_count": 12}`` each."""
    baseline: str
    """qa: another system's output for the same question."""
    turns: Sequence[Mapping[str, str]]
    """chat: ``{"user": …, "reference": …}`` each."""
    category: str
    tools: Sequence[Mapping[str, Any]]
    """function_call: ``{"name": …, "parameters": …}`` with a JSON schema each."""
    reference_calls: Sequence[Mapping[str, Mapping[str, Sequence[Any]]]]
    """function_call: ``{NAME: {PARAMETER: [permitted values]}}`` each."""
    database: str
    """text2sql: path of the SQLite file, seen from ``folder`` and inside of it."""
    database_schema: str
    instructions: Sequence[Mapping[str, Any]]
    """ifeval: ``{"id": "detectable_format:title", "kwargs": {…}}`` each."""
    choices: Sequence[str]
    """multiple_choice: their letters are A, B, C …"""
    reference_state: Mapping[str, Mapping[str, Any]]
    """dialogue_state: ``{DOMAIN: {SLOT: value}}``."""
    language: str
    """Language of this output, where it is not the metric's ``target``."""
    judge_semantic: Any
    """What a judge gave elsewhere, a number or an object with ``score`` and ``explanation``; so the fields below."""
    judge_binary: Any
    judge_detailed: Any
    judge_redteaming: Any
    judge_big_bench_audio: Any
    judge_mt_bench: Any
    """A list, one rating a turn."""


class Scoring(Choosing, total=False):
    """What outputs are scored with, and where metrics find what they need."""

    metrics: str | Sequence[str]
    """Names of metrics or packs, such as ``chrf`` or ``lbrag``; without it what the corpus's task says."""
    multi_ref: bool
    """Score chrF++, BLEU and TER against the variants too."""
    scoring: File
    """Signed weights and tier lines in place of the specification's."""
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
    bertscore: File
    """Folder of a model, or a file of scores."""
    condition: str
    """Label of the experiment."""
    method_name: str
    """What the method is called in lists and on the card."""
    method_class: str
    """What kind of method made outputs from elsewhere, such as ``coached-llm``."""
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
    model_folder: File
    """Of a CTranslate2 model with its tokenizer.json, for the method ``ctranslate2``."""
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
    may_send: str
    """You say that the texts may be sent to the endpoint, and who allows it; the card repeats it."""
    keep_failed: bool
    """Seal the run also where entries failed because there was no connection."""
