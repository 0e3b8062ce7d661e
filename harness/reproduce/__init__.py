"""Reproduction: the set-up of a card built again, run, and held against what the card claims."""
