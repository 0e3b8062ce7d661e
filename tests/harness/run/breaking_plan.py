"""Plans of runs that ask nobody: all metrics, and the cheapest."""

from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from tests.harness.evaluation import FEW, LANGUAGES

PLAN = Plan(method="copy-source", options=MethodOptions(**LANGUAGES))
CHEAP = PLAN.model_copy(update={"scoring": ScoringOptions(metrics=FEW)})
