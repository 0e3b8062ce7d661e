"""Colours, letters and words of the window."""
