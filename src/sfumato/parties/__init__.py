"""Several organisations compute one result without showing each other their data."""
