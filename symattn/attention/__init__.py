"""Which steps attention takes: the spec, the builder and the named variants."""

from symattn.attention.spec import Attention
from symattn.attention.variants import VARIANTS, Variant, variant

__all__ = ["VARIANTS", "Attention", "Variant", "variant"]
