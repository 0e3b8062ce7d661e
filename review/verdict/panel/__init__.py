"""What a panel said, and the statistics of it."""
