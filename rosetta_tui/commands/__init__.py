"""One file for each command of ``rosetta``."""
