"""What a run card says in numbers: scores, floors, caveats, claim, cost and speed."""
