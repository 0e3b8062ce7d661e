"""The sample that ``rosetta submission demo`` hands in: a method of a few lines, and terms to accept."""
