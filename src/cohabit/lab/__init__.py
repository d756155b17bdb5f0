"""Experiments: many rounds of statecraft, played without a house, and what they say."""
