"""The community's own way out: all that belongs to it, in files that need no program of ours."""
