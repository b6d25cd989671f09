"""The result contract as a suite of cases that any tool which runs commands can be held to.

`case` is the format, `cases/` the contract itself, `observed` what a tool is asked to say, `judge`
how the two are compared, `suite` the driver, `adapter` what a tool must be given to take part.
"""
