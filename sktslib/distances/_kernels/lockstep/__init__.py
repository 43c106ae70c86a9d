"""Kernels of lockstep distances: of pairs and windows, of long profiles, of all pairs of windows."""
