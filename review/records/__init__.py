"""What follows from a verdict: who owns a method, what its organisation states, and what shows it."""
