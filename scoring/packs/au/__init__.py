"""Speech, dialogue, calls, code and judged answers (au-harness-metrics)."""
