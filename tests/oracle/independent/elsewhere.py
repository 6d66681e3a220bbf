"""Queries that an independent check or a test with hand-computed values covers already, with the file that does."""

ELSEWHERE = {}
