"""From scored answers to figures: the one definition that files, tables, reports and checks share."""
