"""People's judgement: batches, sessions, the log of events, agreement, the gate and its certificate."""
