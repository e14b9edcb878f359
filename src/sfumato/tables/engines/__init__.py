"""Tables that stay in an SQL engine: one module per engine, and the statements that they run."""
