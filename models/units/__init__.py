"""From an utterance to memory units: clauses, types, claims, corrections, distillation, validity."""
