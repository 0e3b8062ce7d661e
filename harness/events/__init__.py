"""What a run tells while it goes on, and how it is steered and followed."""
