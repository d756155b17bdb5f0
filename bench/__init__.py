"""Benchmarks against peers: ``python -m bench``. Only ratios within one run are meaningful."""
