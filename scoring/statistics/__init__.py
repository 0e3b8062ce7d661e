"""How sure a number is: intervals, tests of differences, and what may be looked at early."""
