"""Plots of runs, drawn with the characters of a terminal."""
