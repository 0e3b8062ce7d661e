"""How the organiser's screens look: their style sheet, and a sign and a tone for each outcome."""

from __future__ import annotations

from pathlib import Path

STYLES = Path(__file__).parent / "organiser.tcss"

SIGNS = {"go": "✓", "no_go": "✗", "discuss": "◇", "insufficient": "…"}
"""Outcome → its shape, so that no colour is needed."""

TONES = {"go": "good", "no_go": "bad", "discuss": "warn", "insufficient": "quiet"}
