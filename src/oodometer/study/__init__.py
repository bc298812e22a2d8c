"""A study: all models of a store on all that they were asked about, and every shift with its line.

Computed once; the report, the figures, the tables and the pages of the explorer are drawn from it.
"""

from oodometer.study.build import study_of
from oodometer.study.kinds import CLEAN_NAMES, KINDS
from oodometer.study.study import Picture, Study, StudyCondition, StudyModel, StudyShift

__all__ = ["CLEAN_NAMES", "KINDS", "Picture", "Study", "StudyCondition", "StudyModel", "StudyShift", "study_of"]
