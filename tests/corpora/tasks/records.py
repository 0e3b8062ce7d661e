"""One sound record for each task, and where its answers stand."""

from __future__ import annotations

import json
from typing import Any

from corpora.formats.load import File, read
from corpora.model.corpus import Corpus
from tests.corpora.making import envelope

SECRET = "MAŜO-7"
"""Stands in every answer of the records below, and nowhere else."""

RECORDS: dict[str, dict[str, Any]] = {
    "translation": {"source": "a cat", "reference": f"kato {SECRET}"},
    "qa": {
        "source": "Who?", "reference": SECRET, "baseline": SECRET, "judge_semantic": 1,
        "evidence": [{"text": "It was Anna.", "token_count": 4, "answer": SECRET}],
    },
    "asr": {"audio": "a.wav", "reference": SECRET, "predicted": SECRET},
    "diarization": {
        "audio": "a.wav", "reference": [{"speaker": "A", "text": SECRET}], "predicted": f"A: {SECRET}",
    },
    "judged": {"source": "Why?", "reference": SECRET, "judge_binary": 1, "predicted": SECRET},
    "chat": {
        "turns": [{"user": "Hi", "assistant": SECRET, "reference": SECRET}, {"user": "Bye"}],
        "category": SECRET, "judge_mt_bench": [9, {"score": None, "reason": "cut"}],
    },
    "function_call": {
        "source": "Weather in Riga?",
        "tools": [{"name": "weather", "parameters": {"properties": {"split": {}}}, "answer": SECRET}],
        "reference_calls": [{"weather": {"city": [SECRET]}}],
        "predicted_calls": [{"weather": {"city": SECRET}}],
    },
    "text2sql": {
        "source": "How many?", "database": "shop.db", "database_schema": "create table item(id)",
        "reference": f"select '{SECRET}'",
    },
    "ifeval": {
        "source": "Write a title.",
        "instructions": [{"id": "keywords:existence", "kwargs": {"keywords": [SECRET]}}],
    },
    "multiple_choice": {"source": "Which?", "choices": ["a", "b"], "reference": "B"},
    "math": {"source": "6 times 7?", "reference": f"#### 42 {SECRET}"},
    "dialogue_state": {
        "source": "A cheap hotel.", "reference_state": {"hotel": {"price": SECRET}},
        "predicted_state": {"hotel": {SECRET: None}},
    },
    "response": {"source": "Write.", "predicted": SECRET},
}  # fmt: skip


def corpus_of(name: str, *records: dict[str, Any], **more: Any) -> Corpus:
    rows = [{"id": number, **each} for number, each in enumerate(records, 1)]
    lines = [{"dataset": envelope(task=name, **more)}, *rows]
    return read([File("c.jsonl", "\n".join(map(json.dumps, lines)).encode())])
