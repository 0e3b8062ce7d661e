"""How an answer is arranged, without another model (response-quality-metrics)."""
