"""The repository's own figures: speed, memory, ratios side by side in one run. ``python -m bench`` runs all of them."""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # as the command line does, before numpy is loaded
