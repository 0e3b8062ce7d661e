"""Texts and their words: compared, counted, shown without harm."""
