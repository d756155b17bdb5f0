"""Playing: seats and who plays them, turns, time, games."""
