"""Thresholds that keep an error rate: of false matches by decoy queries, of missed ones by labels."""
