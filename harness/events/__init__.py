"""What a run tells while it continues, and how it is steered and followed."""
