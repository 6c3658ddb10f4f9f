"""`python -m tritonscope` is the `tritonscope` command."""

import sys

from tritonscope.cli import main

sys.exit(main())
