"""x"""
def worksheet_schema(): return {}
