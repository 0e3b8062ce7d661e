"""The gate: go, no-go, discuss or insufficient, by a policy alone."""
