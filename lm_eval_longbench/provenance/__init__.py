"""What a number depends on: signatures, their comparison, and the lock file."""
