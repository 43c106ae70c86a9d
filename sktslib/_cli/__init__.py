"""The command line: files in, reports out."""

PART = (
    "FILE:START-STOP in samples (rec.csv:1500-1572), in seconds (rec.csv:12.5s-13.1s) or in timestamps "
    "(rec.csv:2024-05-01T12:30:05..2024-05-01T12:30:06), or FILE:DAY (rec.csv:2024-05-01)"
)
