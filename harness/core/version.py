"""The version of the harness, written on every run card (benchmark-specification §3.1)."""

# Semantic version; the same as the distribution's.
VERSION = "0.1.0"
