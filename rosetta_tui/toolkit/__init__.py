"""Textual parts that know no feature."""
