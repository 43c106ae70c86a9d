"""Pairs of windows that are near, and windows that are far from all others."""
