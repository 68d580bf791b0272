"""Reports: what checking found, in sentences and tables, for one worksheet and for many files."""
