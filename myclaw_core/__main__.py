"""Run the command line as `python -m myclaw_core`."""

import sys

from myclaw_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
