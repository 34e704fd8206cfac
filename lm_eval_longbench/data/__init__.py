"""Where documents come from: pinned sources, local copies, the embedded sample."""
