"""The live screen: a run while it continues, its scores, cost and pace."""
