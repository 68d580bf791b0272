"""Which steps attention takes: the spec, the builder, the named variants, the ladder."""
