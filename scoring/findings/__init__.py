"""Findings: what in the outputs of a run can be named without a model, counted, and priced in chrF++."""
