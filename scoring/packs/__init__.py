"""Metric packs: further systems of metrics, each a table and the files that compute it (METRICS §8)."""
