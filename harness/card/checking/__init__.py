"""Whether a card is true: its seal, its numbers computed again, and what may be claimed."""
