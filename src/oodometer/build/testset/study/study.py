"""All that a new test set shows about itself, from a store of predictions."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from oodometer.build.testset.project.place import is_project
from oodometer.build.testset.study.by_frequency import FrequencyAccuracies, accuracy_by_frequency
from oodometer.build.testset.study.discriminator import Discriminator, discriminator
from oodometer.build.testset.study.drops import Drop, drops
from oodometer.build.testset.study.hardest import HardImage, hardest_images, write_shares
from oodometer.build.testset.study.held_out import HeldOutAccuracies, held_out_accuracies
from oodometer.build.testset.study.image_sets import Compared, ImageSet, of_release
from oodometer.build.testset.study.retuning import Setting, retuned
from oodometer.build.testset.study.rights import Rights, rights_about
from oodometer.core.errors import StoreError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.store.index import Index, Source, index_at

if TYPE_CHECKING:
    from oodometer.build.testset.study.by_revision import RevisionAccuracies, StrategyDrop


@dataclass(frozen=True)
class StudyRequest:
    """What to look at.

    Args:
        original: The address of the original set; by default as the release says, or the project's images.
        models: Names in the store; none: all that were asked.
        discriminators: What classifiers that tell the sets apart shall see: ``pixels``, or addresses of models.
        baseline: A model whose other hyper-parameters are to be compared with it.
        splits: The folder of splits whose held-out images models were asked about.
        n_hardest: How many of the hardest images of each set.
        shares: Where to write the share of models that get each image right.
        level: Of the intervals.
        seed: Of the draws of the discriminators.
    """

    original: str | None = None
    models: tuple[str, ...] = ()
    discriminators: tuple[str, ...] = ()
    baseline: str | None = None
    splits: str | None = None
    n_hardest: int = 10
    shares: str | None = None
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_hardest < 1:
            raise UsageError(f"--hardest {self.n_hardest}: at least 1")


@dataclass(frozen=True)
class ReleaseStudy:
    """What came of it; what could not be computed is empty, and said in the notes.

    Args:
        new, original: What the sets are called; ``n_new`` and ``n_original`` how many images they have.
        by_frequency: Of each set with selection frequencies.
        revisions: Accuracies at each revision, of a project.
        strategies: What each sampling strategy loses, of a project.
        drops: What the new set loses.
        hardest: By set, its hardest images.
        discriminators: One for each kind of features.
        held_out: Of splits.
        settings: Other hyper-parameters against the baseline, the best first.
        original_frequency: The mean selection frequency of the annotated original images.
        notes: What a reader should know.
    """

    new: str
    original: str | None
    n_new: int
    n_original: int
    by_frequency: tuple[FrequencyAccuracies, ...] = ()
    revisions: tuple[RevisionAccuracies, ...] = ()
    strategies: tuple[StrategyDrop, ...] = ()
    drops: tuple[Drop, ...] = ()
    hardest: dict[str, tuple[HardImage, ...]] = field(default_factory=dict)
    discriminators: tuple[Discriminator, ...] = ()
    held_out: HeldOutAccuracies | None = None
    settings: tuple[Setting, ...] = ()
    original_frequency: Estimate | None = None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


WHOLE = StudyRequest()


def study_of(address: str, store: Source, request: StudyRequest = WHOLE) -> ReleaseStudy:
    """Study a project, or a release (or any data set) by its address, by what models of a store answered about it."""
    index = index_at(store)
    if not is_project(address):
        return studied(index, of_release(address, request.original), request)
    if request.original is not None:
        raise UsageError("--original is for a release; a project has its original images")
    from oodometer.build.testset.study.project_study import study_of_project

    return study_of_project(address, index, request)


def studied(index: Index, compared: Compared, request: StudyRequest, **of_project: Any) -> ReleaseStudy:
    """The study of two sets; a project adds what it knows besides."""
    notes: list[str] = []
    everyone = rights_about(index, compared.new)
    _check_models(index, compared.new, everyone, request.models)
    new = everyone.only(request.models)
    sets = [(compared.new, new)]
    original = compared.original
    if original is None:
        notes.append("nobody says what the original set is, so there is no drop: --original ADDRESS")
    else:
        sets += _about_original(index, original, request, notes)
    lost = drops(sets[1][1], new, level=request.level) if len(sets) > 1 else []
    if len(sets) > 1 and len(lost) == 0:
        notes.append("no model was asked about both sets over the same classes, so there is no drop")
    if request.shares is not None:
        write_shares(sets, request.shares)
    return ReleaseStudy(
        compared.new.name,
        None if original is None else original.name,
        len(compared.new),
        0 if original is None else len(original),
        by_frequency=_by_frequency(sets, request, notes),
        drops=tuple(lost),
        hardest={images.name: tuple(hardest_images(images, rights, request.n_hardest)) for images, rights in sets},
        discriminators=_discriminators(compared, request),
        held_out=_held_out(index, request),
        settings=() if request.baseline is None else _settings(index, everyone, request),
        notes=tuple(notes),
        **of_project,
    )


def _check_models(index: Index, images: ImageSet, rights: Rights, models: tuple[str, ...]) -> None:
    if not rights.models:
        raise StoreError(f"{index}: no model was asked about {images.name}; run some on it: oodometer run --data")
    for name in models:
        if name not in rights.models:
            raise UsageError(f"{index}: {name} was not asked about {images.name}{did_you_mean(name, rights.models)}")


def _about_original(
    index: Index, original: ImageSet, request: StudyRequest, notes: list[str]
) -> list[tuple[ImageSet, Rights]]:
    rights = rights_about(index, original).only(request.models)
    if not rights.models:
        notes.append(f"no model was asked about {original.name}, the original set, so there is no drop")
        return []
    return [(original, rights)]


def _by_frequency(
    sets: list[tuple[ImageSet, Rights]], request: StudyRequest, notes: list[str]
) -> tuple[FrequencyAccuracies, ...]:
    annotated = [(images, rights) for images, rights in sets if images.is_annotated]
    if not annotated:
        notes.append("no image has a selection frequency, so there are no accuracies by it")
    return tuple(accuracy_by_frequency(images, rights, level=request.level) for images, rights in annotated)


def _discriminators(compared: Compared, request: StudyRequest) -> tuple[Discriminator, ...]:
    if not request.discriminators:
        return ()
    original = compared.original
    if original is None:
        raise UsageError("--discriminator: it tells the set from its original, which nobody names: --original ADDRESS")
    return tuple(
        discriminator(compared.new, original, one, seed=request.seed, level=request.level)
        for one in request.discriminators
    )


def _held_out(index: Index, request: StudyRequest) -> HeldOutAccuracies | None:
    if request.splits is None:
        return None
    return held_out_accuracies(index, request.splits, baseline=request.baseline, level=request.level)


def _settings(index: Index, new: Rights, request: StudyRequest) -> tuple[Setting, ...]:
    assert request.baseline is not None
    return tuple(retuned(index, new, request.baseline, request.models, level=request.level))
