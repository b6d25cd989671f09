"""The file tools and bash in a process of their own, held by the kernel (assistant spec 2.7).

One process per task attempt, started through a sandbox. The two ends speak frames over a socket
that the process inherits. What comes out of it is read with the suspicion that any output of a
sandbox deserves: it is redacted again here, its sandbox facts are ours, and what does not fit the
protocol ends it.
"""
