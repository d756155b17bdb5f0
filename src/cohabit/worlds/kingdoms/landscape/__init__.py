"""How land comes to be: heights, rivers, climate."""
