"""`python -m agentkit` is `agentkit`."""

import sys

from agentkit.cli.main import main

sys.exit(main())
