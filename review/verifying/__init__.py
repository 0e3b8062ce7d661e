"""Any file of ours, and of the reference implementation: what it is, who signed it, and whether it holds."""
