"""What a metric is, and how entries are scored by it: statistics that add up."""
