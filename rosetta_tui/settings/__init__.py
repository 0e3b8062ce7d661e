"""What a person can choose once."""
