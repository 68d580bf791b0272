"""The matrix expressions that SymPy lacks, one file a family; `catalogue` lists all of them."""
