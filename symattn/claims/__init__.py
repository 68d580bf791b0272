"""What somebody claims, and where it stands."""
