"""Declared checks: what a project says proves it works, run as declared and judged apart.

A check is a package script, an entry of `.truepenny/verifiers.yaml`, or the look at a web page's
files. Whether it ran, whether it passed and what that says about science are three words, never
one (tools spec 2.10).
"""
