"""Compiles the Esperanto analyser from its source; needs the package ``hfst``.

The result is part of the repository, so that the program itself needs no compiler:
``python -m corpora.languages.shipped.epo.build [FILE]``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

SOURCE = Path(__file__).with_name("esperanto.lexc")
ANALYSER = Path(__file__).with_name("epo.hfstol")


def build(target: Path = ANALYSER, source: Path = SOURCE) -> None:
    """Compile a lexc source to an unweighted optimized-lookup file that every engine reads."""
    hfst = import_module("hfst")
    analyser = hfst.compile_lexc_file(str(source), verbosity=0)
    analyser.invert()
    analyser.minimize()
    analyser.convert(hfst.ImplementationType.HFST_OL_TYPE)
    stream = hfst.HfstOutputStream(filename=str(target), type=hfst.ImplementationType.HFST_OL_TYPE)
    stream.write(analyser)
    stream.flush()
    stream.close()


if __name__ == "__main__":
    build(*map(Path, sys.argv[1:]))
