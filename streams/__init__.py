"""The Faust application, topics, workers, commands and the offline runner: thin."""
