"""Several organisations compute one result, and none of them shows its data.

A *talk* is one party's side of a protocol: a generator that yields what it sends and awaits, and returns its result. A
talk does no input or output of its own, so the same code runs in one process, over TCP with mutual TLS, and under a
recorder.

* ``exchange``: what a talk yields; ``conversation``: how a program takes part in talks, one after the other;
* ``together``: all parties in one process, for tests and simulations;
* ``leakage``: what a protocol tells a party beyond its result, declared as data;
* ``primitives``: sums, unions, intersections, transfers, products, circuits, each in a file of its own;
* ``wire``: keys, cards, sessions, frames and sockets;
* ``mining``: learners of other rooms on counts that several parties add up.

All protocols here are for semi-honest parties: each follows the protocol, and keeps and studies all that it sees.
"""
