"""The one exception that stands for a mistake a user can correct."""


class UserError(Exception):
    """One line that says what is wrong, where, and how to mend it.

    The command line prints it on standard error as "takt: …" and exits with status 2.
    """
