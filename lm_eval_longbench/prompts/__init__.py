"""From a document to the exact text a model gets: templates and truncation."""
