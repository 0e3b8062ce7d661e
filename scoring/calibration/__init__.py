"""What metrics tell of people's ratings, and what the ratings say of weights and thresholds."""
