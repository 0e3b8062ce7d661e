"""Annotators: slow, heavy or networked work that only fills fields of a translation (DESIGN §4).

Metrics stay pure: they read what an annotator found, here or on another day.
"""
