"""Built-in players for Kingdoms: kings, gods and storytellers. They know only what is in their observations."""
