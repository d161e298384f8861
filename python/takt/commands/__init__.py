"""One module for each command; takt.cli says how they are found."""
