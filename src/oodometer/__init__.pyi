from typing import Final

from oodometer.core.condition import Condition as Condition
from oodometer.core.condition import Shift as Shift
from oodometer.core.condition import Transform as Transform
from oodometer.core.condition import clean as clean
from oodometer.core.dataset import Dataset as Dataset
from oodometer.core.errors import DataError as DataError
from oodometer.core.errors import ModelError as ModelError
from oodometer.core.errors import OodometerError as OodometerError
from oodometer.core.errors import RequirementNotMetError as RequirementNotMetError
from oodometer.core.errors import StoreError as StoreError
from oodometer.core.errors import UsageError as UsageError
from oodometer.core.estimate import Estimate as Estimate
from oodometer.core.labels import LabelMap as LabelMap
from oodometer.core.labels import LabelSpace as LabelSpace
from oodometer.core.labels import mask as mask
from oodometer.core.labels import super_classes as super_classes
from oodometer.core.model import Card as Card
from oodometer.core.model import Compute as Compute
from oodometer.core.model import Input as Input
from oodometer.core.model import Model as Model
from oodometer.core.predictions import Predictions as Predictions
from oodometer.core.random import rng_for as rng_for
from oodometer.core.stored import StoredAnswers as StoredAnswers
from oodometer.core.view import View as View
from oodometer.corruptions.corrupt import corrupt as corrupt
from oodometer.corruptions.registry import corruption as corruption
from oodometer.corruptions.sample_image import sample_image as sample_image
from oodometer.data.load import load_data as load_data
from oodometer.data.subset import stratified as stratified
from oodometer.engine.imports import import_predictions as import_predictions
from oodometer.engine.imports import import_table as import_table
from oodometer.engine.run import Options as Options
from oodometer.engine.run import Watcher as Watcher
from oodometer.engine.run import run as run
from oodometer.models.load import load_model as load_model
from oodometer.models.predictions import read_predictions as read_predictions
from oodometer.report.compare import Comparison as Comparison
from oodometer.report.compare import compare as compare
from oodometer.report.score import Score as Score
from oodometer.report.score import Scores as Scores
from oodometer.report.score import score as score
from oodometer.stats.intervals import share_of as share_of
from oodometer.store.store import Store as Store
from oodometer.store.store import open_store as open_store

__version__: Final[str]
