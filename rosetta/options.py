"""What a run can be told, by name: the options of ``rosetta run``, typed for editors and type checkers.

Written by ``docs/make_options.py`` from ``harness.method.option_table``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from corpora.files.json_types import JsonObject

File = str | Path


class Choosing(TypedDict, total=False):
    """Which entries of a corpus take part; without any of these, all."""

    segment: Sequence[str]
    """Only entries of this segment. Secret ones stay on this machine. Default: all."""
    difficulty: Sequence[int]
    """Only entries of this tier of difficulty. Default: all."""
    limit: int
    """At most this many entries, the first ones. Default: all."""
    sample: int
    """This many entries at random, always the same for one seed. Default: all."""
    seed: int
    """Another number draws another sample. Default: 0."""
    entries: Sequence[str | int]
    """Only these entries, by their ids. Default: all."""


class Scoring(Choosing, total=False):
    """What outputs are scored with, and where metrics find what they need."""

    method_class: str
    """What kind of method made the outputs. Default: custom-plugin."""
    model: str
    """The model, as the endpoint names it; of outputs from elsewhere, the system that made them."""
    prices: File
    """Your own price table. Default: the shipped one."""
    budget: float
    """US dollars to spend, at most; the run ends before it would pass them. Default: none."""
    concurrency: int
    """Calls at once, at most. Default: 8."""
    workers: int
    """Processes that score, at most; secret texts, and outputs that models judge, are scored by one. Default: by cores and size."""
    condition: str
    """Label of the experiment. Default: by method."""
    method_name: str
    """What the method is called in lists and on the card."""
    replicate: int
    """Which repetition of the same experiment this is. Default: 0."""
    tags: Sequence[str]
    """A word to find the run again; may be repeated."""
    note: str
    """Your own words beside the run; they stay on this computer."""
    timeout: float
    """Seconds for one call. Default: 120."""
    trust_local_server: bool
    """Say that the server on this machine forwards no secret text; kept for later runs."""
    may_send: str
    """Say that the texts may be sent to the endpoint, and who allows it; the card repeats it."""
    metrics: str | Sequence[str]
    """Such as chrf,lbrag.f1, or a pack for all of its metrics that can be computed: rosetta,lbrag. Default: by task."""
    scoring: File
    """Signed weights and tier lines (rosetta calibrate --sign), or: specification. Default: the specification's."""
    multi_ref: bool
    """Score chrF++, BLEU, TER against the variants too."""
    language_card: File
    """Your own card of the target language. Default: found by language."""
    analyser: File
    """Morphological analyser (.hfstol). Default: found by language."""
    terms: File
    """Prescribed terms: a dictionary, or coaching with one. Default: the coaching's."""
    gloss_dictionary: File
    """Target lemmas with their meanings."""
    embeddings: str
    """Endpoint or folder of an embedding model."""
    embeddings_model: str
    """Model asked for at ``embeddings``."""
    judge: str
    """Endpoint of a model that judges outputs."""
    judge_model: str
    """Model asked for by ``judge``."""
    comet: File
    """Checkpoint of COMET, or a file of its scores."""
    bertscore: File
    """Folder of a model for BERTScore, or a file of scores."""


class Options(Scoring, total=False):
    """How a run translates, and how it goes about its calls."""

    outputs: File
    """Outputs made elsewhere: text, JSONL, TSV, CSV, a run card or a log of inspect_ai."""
    translator: str
    """Label of the human translator. Default: human."""
    text: str
    """What the constant method answers."""
    endpoint: str
    """A preset (openrouter, openai, ollama …) or a URL that speaks chat completions."""
    region: str
    """Region of a Microsoft key. Default: global."""
    prompt: str
    """A file, or a version that is shipped, such as plain-v1. Default: by coaching."""
    coaching: File
    """Grammar notes, examples and dictionary: JSON or TOML. Default: none."""
    tools: Sequence[str]
    """What the model may call while it translates: lookup, analyse."""
    checks: Sequence[str]
    """What is rejected and asked again: source-copy, length, placeholders, script, glossary, fst. Default: all that can be made."""
    strip: Sequence[str]
    """What is taken off outputs before they are scored: prose, wrapper, quotes. The card says so. Default: nothing."""
    glossary: File
    """Dictionary of phrases and translations: TSV, CSV or JSON."""
    word_list: File
    """Words of the target language, one on each line."""
    model_folder: File
    """Folder of a CTranslate2 model and its tokenizer.json."""
    max_retries: int
    """Times that a rejected answer is asked for again. Default: 2."""
    temperature: float | None
    """0 to 2, or `none` for the endpoint's own. Default: 0."""
    max_tokens: int | None
    """Output tokens of one call, at most. Default: 2048."""
    batch_size: int
    """Entries in one call. Default: 1."""
    source_name: str
    """Name of the source language for prompts."""
    target_name: str
    """Name of the target language for prompts."""
    body: JsonObject
    """Add this to the body of each call."""
    settings: JsonObject
    """Passed to a plug-in. A value that is not JSON is taken as text."""
    attempts: int
    """Attempts at one call, at most. Default: 6."""
    no_cache: bool
    """Ask again even for what was answered before."""
    offline: bool
    """Refuse every connection to another machine."""
    against: str
    """Compare with this complete run while the run is under way, by the score that leads."""
    stop_when: str
    """With ``against``: stop as soon as the run is surely worse, or either is surely better (decided). Default: never."""
    keep_failed: bool
    """Seal the run even if entries failed because there was no connection."""
