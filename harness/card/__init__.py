"""Run cards: the sealed record of a run (benchmark-specification §3, scoring-specification §9)."""
