"""How sure a number is: intervals, tests of differences, and what may be examined early."""
