"""Sharing commits with others: fetch, merge, push, conflicts, claims."""
