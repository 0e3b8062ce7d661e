"""What works on this computer, what is missing, and what to do."""
