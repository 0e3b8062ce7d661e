"""What is typed in a real window."""

from __future__ import annotations

COMMENT = "Your comment"
