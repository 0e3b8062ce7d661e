"""What leaves of runs over secret entries: coarse, signed scores, as many times as a budget allows (DESIGN V3)."""
