"""The organiser's side: making batches, taking ratings back, and handing results on."""
