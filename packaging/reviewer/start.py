"""Where the bundled reviewer begins."""

from __future__ import annotations

import sys

from review.desktop.program.program import main

if __name__ == "__main__":
    sys.exit(main())
