"""Proofs that Rocq accepts: a certificate as a theorem about matrices of MathComp."""
