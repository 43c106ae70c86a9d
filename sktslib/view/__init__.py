"""A page in the browser on which recordings are looked at, marked and searched."""
