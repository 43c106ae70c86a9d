"""Recordings from files: tables as text, spreadsheets and binary files."""
