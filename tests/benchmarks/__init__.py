"""What takes how long: ratios, measured; nothing here is a test."""
