"""What is learned from a recording whose time points are labeled."""
