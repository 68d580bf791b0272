"""How mathematics is spelled: the notation tree and its three readings. Knows no SymPy."""
