"""Displays: one file for each family of pictures."""
