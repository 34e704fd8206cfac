"""Freeze what a run depends on, and hold later runs to it."""
