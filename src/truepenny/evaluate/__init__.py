"""Scoring answers against incidents with known causes.

`incident.incidents(root)` reads the folders, `trial.evaluate(incidents, answerer)` asks, and
`report.Report(subject, trials)` sums up. Who answers is up to the caller (see `answer`).
"""
