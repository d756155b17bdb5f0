"""Scripts of calls that two trees play side by side: whatever differs is shown. `docs/testing.md` says how to use it."""
