"""Runs ranked where they may be: lists, entrants, and which ranks can be told apart."""
