"""The demo conversation, feeding it, and showing what comes of it."""
