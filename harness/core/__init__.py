"""What all of the harness stands on: failures, calls, files that a person named, the version."""
