"""The live screen: a run while it goes on, its scores, cost and pace."""
