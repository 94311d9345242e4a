"""Findings, proofs and tables as text, JSON, SARIF, JUnit, GitHub annotations and HTML."""
