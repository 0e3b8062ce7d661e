"""What follows from a verdict: who owns a method, where it is used, what its organisation states, and what shows it."""
