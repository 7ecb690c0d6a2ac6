"""Training of the shipped models; needs the extra ``train``. One command a model, deterministic."""
