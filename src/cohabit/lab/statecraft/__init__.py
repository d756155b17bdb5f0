"""Experiments with Statecraft: many rounds, played without a house, with measures and a report."""
