"""Experiments: many rounds of Statecraft, played without a house, with measures and a report."""
