"""Runs the command line as `python -m takt`."""

import sys

from takt.cli import main

sys.exit(main())
