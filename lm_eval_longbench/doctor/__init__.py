"""A preflight: everything a run needs is looked at before anything is generated."""
