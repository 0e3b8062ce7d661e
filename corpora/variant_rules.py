"""Rules of one language by which two sentences are the same (scoring-specification, appendix B)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class VariantRules(BaseModel):
    """Which differences do not count, as data of a language card."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    free_word_order: bool = False
    """True where the same words in another order mean the same."""
    optional_particles: tuple[str, ...] = ()
    """Words that may stand or be missing."""
    synonyms: tuple[tuple[str, ...], ...] = ()
    """Groups of words of which each may stand for the others."""
