"""Sweeps on the workers of a Dask cluster: their calls are made there; rows, money and scores are kept here."""
