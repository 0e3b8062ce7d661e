"""Runs, cards and calibrations as lines of text, for terminals and pipes."""
