"""A translation model of a few kilobytes for CTranslate2, with weights set by hand: it says the same whatever it is asked."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

WORDS = ["<unk>", "<s>", "</s>", "good", "morning", "bonan", "matenon", "eo"]
SAYS = "bonan matenon"
_NEXT = {"</s>": "bonan", "<s>": "bonan", "eo": "matenon", "bonan": "matenon", "matenon": "</s>"}
"""Token → the one that comes after it; ``</s>`` begins an output too."""
_WIDTH = 8


def tiny_model(folder: Path) -> Path:
    """Write the model and its tokenizer into a folder, which is made; returns the folder."""
    pytest.importorskip("ctranslate2", reason="the extra engine is not installed")
    from ctranslate2.specs import transformer_spec

    spec = transformer_spec.TransformerSpec.from_config(num_layers=1, num_heads=1)
    spec.config.decoder_start_token = "</s>"
    spec.register_source_vocabulary(WORDS)
    spec.register_target_vocabulary(WORDS)
    _fill(spec)
    identity = np.eye(len(WORDS), _WIDTH, dtype=np.float32)
    spec.decoder.embeddings.weight = identity
    chain = np.zeros((len(WORDS), _WIDTH), dtype=np.float32)
    for token, following in _NEXT.items():
        chain[WORDS.index(following), WORDS.index(token)] = 1.0
    spec.decoder.projection.weight = chain
    folder.mkdir(parents=True)
    spec.validate()
    spec.save(str(folder))
    _tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def _fill(spec: Any) -> None:
    """Give every layer weights that let its input through: zeros, and ones for the scale of a norm."""
    spec.encoder.embeddings[0].weight = np.eye(len(WORDS), _WIDTH, dtype=np.float32)
    for part in (spec.encoder, spec.decoder):
        part.position_encodings.encodings = np.zeros((64, _WIDTH), dtype=np.float32)
        for layer in part.layer:
            for name in ("self_attention", "attention"):
                if (attention := getattr(layer, name, None)) is not None:
                    _attention(attention, crossed=name == "attention")
            _linear(layer.ffn.linear_0, _WIDTH, _WIDTH)
            _linear(layer.ffn.linear_1, _WIDTH, _WIDTH)
            _norm(layer.ffn.layer_norm)
        _norm(part.layer_norm)


def _attention(attention: Any, *, crossed: bool) -> None:
    _norm(attention.layer_norm)
    sizes = (1, 2, 1) if crossed else (3, 1)
    for linear, times in zip(attention.linear, sizes, strict=True):
        _linear(linear, times * _WIDTH, _WIDTH)


def _linear(linear: Any, rows: int, columns: int) -> None:
    linear.weight = np.zeros((rows, columns), dtype=np.float32)
    linear.bias = np.zeros(rows, dtype=np.float32)


def _norm(norm: Any) -> None:
    norm.gamma = np.ones(_WIDTH, dtype=np.float32)
    norm.beta = np.zeros(_WIDTH, dtype=np.float32)


def _tokenizer() -> Any:
    from tokenizers import AddedToken, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    made = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, "<unk>"))
    made.normalizer = Lowercase()
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    made.add_special_tokens([AddedToken(each, special=True) for each in ("<s>", "</s>")])
    return made
