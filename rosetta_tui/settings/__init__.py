"""The settings screen: what a person chooses once, and the keys of endpoints."""
