"""One calculation in a file: what attention, what is given, what somebody claims."""

from symattn.worksheet.read import Worksheet, read_worksheet

__all__ = ["Worksheet", "read_worksheet"]
