"""The benchmarks: one module a family, and the registry that lists them."""
