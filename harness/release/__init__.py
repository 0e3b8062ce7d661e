"""What leaves of runs over secret entries: coarse, signed scores, as often as a budget allows (DESIGN V3)."""
