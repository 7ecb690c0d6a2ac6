"""Names, organisations, places, products, strong ids and amounts in an utterance."""
