"""One BLAS thread for the tests, as the command line sets it: idle ones take half the processor."""

import os

from streams.cli.main import BLAS_THREADS

for _name in BLAS_THREADS:
    os.environ.setdefault(_name, "1")
