"""The stages: (record, that stage's view of state) -> (record, state change, side records)."""
