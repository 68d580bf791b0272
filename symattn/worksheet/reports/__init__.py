"""What a marking says to people and to programs, for one worksheet and for many files."""
