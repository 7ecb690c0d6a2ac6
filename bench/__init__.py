"""The repository's own figures: speed, memory, ratios side by side in one run. ``python -m bench`` runs all of them."""

import os

from streams.cli.main import BLAS_THREADS

for _name in BLAS_THREADS:
    os.environ.setdefault(_name, "1")  # as the command line does, before numpy is loaded
