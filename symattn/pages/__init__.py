"""Pages of prose with worksheets and claims in them: read, checked, mended, filled in."""
