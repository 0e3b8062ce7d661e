"""What the ratings add up to: agreement, the gate, and the certificate that anyone can recompute."""
