"""Runs the command line: python -m ragauge."""

from ragauge.cli.main import main

if __name__ == "__main__":
    main()
