"""From scored answers to figures: the one definition for files, tables, reports and checks."""
