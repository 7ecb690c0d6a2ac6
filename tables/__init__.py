"""All state and its rules, over a plain mutable mapping of bytes to bytes."""
