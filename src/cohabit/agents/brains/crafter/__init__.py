"""A scripted expert for Crafter, which reads only the structured observation."""
