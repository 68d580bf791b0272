"""Pictures of a derivation: drawn once as plain shapes, spelled as SVG, TikZ or PNG."""
