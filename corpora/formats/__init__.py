"""Corpus files of every form: read, checked as they are read, and written."""
