"""Measurements, side by side with peers: ``python -m bench``. Ratios within one run are what counts."""
