"""The plan of a run that breaks off."""

from __future__ import annotations

from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from tests.harness.evaluation import LANGUAGES

PLAN = Plan(method="copy-source", options=MethodOptions(**LANGUAGES))
