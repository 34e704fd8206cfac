"""The package's version, read by the build and shown by the command line."""

__version__ = "0.1.0"
