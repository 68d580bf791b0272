"""The interactive page: its parts, and the files that go into it."""
