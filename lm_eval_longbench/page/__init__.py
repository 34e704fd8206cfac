"""Reports that people look at: one page that needs nothing else, and its charts as files."""
