"""What a number depends on: the signature of a result, and how two of them compare."""
