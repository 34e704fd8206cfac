"""Slow, obvious versions of the definitions, written for the tests alone."""
