"""The repository's own figures: speed, memory, ratios side by side in one run. ``python -m bench`` runs all of them."""
