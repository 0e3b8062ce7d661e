"""What all of the harness is on: failures, calls, files that a person named, the version."""
