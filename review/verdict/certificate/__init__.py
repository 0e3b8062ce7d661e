"""The certificate, the evidence that it rests on, and its recomputation."""
