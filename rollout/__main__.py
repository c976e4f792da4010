"""`python -m rollout` is the program `rollout`."""

from rollout.cli.app import main

if __name__ == "__main__":
    main()
