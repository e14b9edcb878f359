"""What the columns mean: roles, domains, hierarchies and how hierarchies are built."""
