"""One entry of a run: its texts, scores and reasons, and the table of all entries."""
