"""A corpus in the making: its folder, candidate sources, analyses, and what it still lacks (benchmark-specification §11)."""
