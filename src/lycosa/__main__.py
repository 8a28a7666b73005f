"""`lycosa`, and `python -m lycosa`: the command line."""

import sys


def main() -> None:
    """Loading takes a moment, and whoever presses Ctrl-C in it wants no traceback."""
    try:
        from lycosa.cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
