"""Queries of several channels."""
