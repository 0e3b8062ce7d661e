"""What a run is scored with: asked for, found on this machine, and taken up again."""
