"""Numbers: metrics, composite, tiers, cost, speed, intervals. Pure: no network, no database, no clock."""
