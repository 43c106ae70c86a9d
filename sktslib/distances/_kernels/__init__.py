"""Compiled code: recurrences and the drivers that run them."""
