"""Which sentences are asked about, with which controls, and who gets what."""
