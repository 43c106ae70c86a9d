"""Learning from a recording whose time points are labeled."""
