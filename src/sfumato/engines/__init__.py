"""Tables that stay where they are: an engine counts and recodes by SQL, and sfumato searches.

``engine`` says what an adapter must be able to do, ``statements`` builds every statement, ``engine_source`` turns both
into a source of cells, and each adapter is one file.
"""
