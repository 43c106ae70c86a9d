"""The displays behind `sktslib.utils.visualisation`."""
