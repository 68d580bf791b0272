"""x"""
def proven_for_all_sizes(s): return False
