"""``python -m sfumato``."""

from sfumato.cli.main import main

if __name__ == "__main__":
    main()
