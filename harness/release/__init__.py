"""What leaves of runs over secret entries: coarse, signed scores, within a budget (DESIGN V3)."""

FOLDER = "releases"  # of the data folder
