"""One release of several parties' rows, searched on counts that the parties compute together."""
