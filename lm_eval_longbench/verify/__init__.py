"""Verify results against their sample logs, and compare two results."""
