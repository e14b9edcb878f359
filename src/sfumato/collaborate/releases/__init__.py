"""One release of several parties' rows: by the search that a single table has, over counts that parties add up."""
