"""The way out to model servers: addresses, keys, prices, limits, one request and its reply."""
