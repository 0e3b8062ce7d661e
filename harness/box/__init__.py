"""The box: code of others, run where it can reach nothing, keep nothing and tell nothing but its outputs."""
