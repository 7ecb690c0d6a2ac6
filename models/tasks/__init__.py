"""What a task wants: intents, slots, constraints."""
