"""Why two numbers differ."""
