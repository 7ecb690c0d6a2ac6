"""Records and pure functions over text, time and vectors: no Kafka, no clock, no state."""
