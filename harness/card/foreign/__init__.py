"""Cards, logs and reports of other programs, read as ours."""
