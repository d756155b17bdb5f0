"""Agents that think with a language model."""
