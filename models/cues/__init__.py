"""What recall weighs: terms, needs of the turn, scores and their reasons."""
