"""Sequences that come in pieces: streams, and recordings that are read by chunks."""
