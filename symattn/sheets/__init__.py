"""Worksheets: what attention, what is given, what somebody claims."""
