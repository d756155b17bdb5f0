"""Houses on a real PostgreSQL that are killed, paused and cut off, while clients write and read. See `docs/testing.md`."""
