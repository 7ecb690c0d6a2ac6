"""The parts of filter 1 (coreference and ellipsis): candidates, network, proposals, guards."""
