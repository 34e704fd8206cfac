"""Data that any program for LongBench can be held to, and what holds it: see README.md."""
