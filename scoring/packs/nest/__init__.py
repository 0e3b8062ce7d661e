"""How an answer is laid out, without another model (response-quality-metrics)."""
