"""Profiles: distance and range of each candidate."""
