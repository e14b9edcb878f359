"""The studio: the whole way from a table to a verified release in a browser, on the steward's own machine.

It builds a plan and calls ``pipeline``, nothing else; whatever is made here runs from the command line unchanged.
"""
