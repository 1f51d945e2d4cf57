"""`PLATFORMS`: exports of annotation platforms and logs of language models that judge, one file for each platform.

To add a platform, write a file with a `Platform`, and add it to `PLATFORMS`.
"""

from typing import Final

from .argilla import ARGILLA
from .batches import BATCHES
from .deepeval import DEEPEVAL
from .doccano import DOCCANO
from .ground_truth import GROUND_TRUTH
from .inspect_ai import INSPECT
from .label_studio import LABEL_STUDIO
from .label_studio_min import LABEL_STUDIO_MIN
from .labelbox import LABELBOX
from .langfuse import LANGFUSE
from .lm_eval import LM_EVAL
from .mturk import MTURK
from .openai_evals import OPENAI_EVALS
from .platform import Platform
from .prodigy import PRODIGY
from .promptfoo import PROMPTFOO
from .qualtrics import QUALTRICS
from .refused import REFUSED as REFUSED
from .toloka import TOLOKA

# The platforms, in the order in which they are recognised.
PLATFORMS: Final[tuple[Platform, ...]] = (
    LABEL_STUDIO,
    LABEL_STUDIO_MIN,
    ARGILLA,
    DOCCANO,
    PRODIGY,
    MTURK,
    TOLOKA,
    GROUND_TRUTH,
    LABELBOX,
    QUALTRICS,
    PROMPTFOO,
    INSPECT,
    DEEPEVAL,
    LANGFUSE,
    LM_EVAL,
    OPENAI_EVALS,
    BATCHES,
)
