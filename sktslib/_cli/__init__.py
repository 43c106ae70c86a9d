"""The command line: files in, reports out."""
