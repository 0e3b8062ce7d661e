"""Translation methods, and the registry that makes one from its name and options."""
