"""How well people name the hardest images of both sets, when they can't know which set an image is of.

Models get more wrong on a new test set than on the original one. If people do as well on the hardest images of the one
as of the other, those of the new set are not plainly mislabelled or beyond anybody (Recht et al., 2018, section 4).
"""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import PurePosixPath
from typing import Any

from oodometer.build.testset.project.database import as_text, from_text, insert_or_leave, now
from oodometer.build.testset.project.handing_out import RefusedAnswerError
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import CLASS, IMAGE, NAMED, QUIZ, SETTING, WORKER, sa
from oodometer.core.errors import DataError, UsageError
from oodometer.core.random import rng_for
from oodometer.data import addresses

OLD, NEW = "original", "new"
SETS = (OLD, NEW)
ROLES = {OLD: ORIGINAL, NEW: CANDIDATE}

SHARE = 0.05
"""Of each set, as Recht et al. (2018) took them."""

MOST_NAMES = 5
"""For one image: as many guesses as top-5 accuracy allows a model."""

SEED = "quiz seed"
"""A setting of the project."""

KEYS_AT_ONCE = 500


@dataclass(frozen=True)
class MadeQuiz:
    """The images that people are asked about.

    Args:
        n_old: Of the original set.
        n_new: Of the new one.
        is_new: Whether that changed anything.
    """

    n_old: int
    n_new: int
    is_new: bool

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"original": self.n_old, "new": self.n_new, "is_new": self.is_new}


@dataclass(frozen=True)
class Question:
    """An image to be named.

    Args:
        key: What the page calls it: it tells nothing.
        n_done: Images that this person has done.
        n_all: All that there are.
    """

    key: str
    n_done: int
    n_all: int


def hardest_images(project: Project, address: str, *, share: float = SHARE, seed: int = 0) -> dict[str, list[str]]:
    """By set, the keys of the images that the smallest share of models gets right.

    Args:
        address: A table with the columns ``id`` (a key of the project, the file of a release that is named by one, or
            the name of an original image in its own set) and ``share``.
        share: Of the rows of each set; one image of each at least.
        seed: Of the choice among images that are equally hard.
    """
    if not 0 < share <= 1:
        raise UsageError(f"--share {share}: more than 0 and at most 1")
    known = _known_names(project)
    of_set: dict[str, dict[str, float]] = {OLD: {}, NEW: {}}
    for id_, right in _scores(address):
        image = _named(known, id_)
        if image is None:
            raise DataError(f"{address}: {id_}: no image of this project is called so")
        which, key = image
        of_set[which][key] = right
    for which, scores in of_set.items():
        if not scores:
            raise DataError(
                f"{address}: no image of the {which} set is in it; the quiz needs some of both, "
                "so the shares must be of a store that holds answers about both"
            )
    return {which: _lowest(scores, share, seed) for which, scores in of_set.items()}


def make_quiz(project: Project, old: Iterable[str], new: Iterable[str], *, seed: int = 0) -> MadeQuiz:
    """Let people name these images of the original and of the new set, given by their keys.

    The same call again changes nothing. Other images take the place of the first ones as long as nobody has answered.

    Args:
        seed: Of the order, which is another for every person.
    """
    chosen = {OLD: _numbers(project, old, OLD), NEW: _numbers(project, new, NEW)}
    if not chosen[OLD] or not chosen[NEW]:
        raise UsageError("a quiz needs images of both sets: nobody is to know which one an image is of")
    wanted = chosen[OLD] | chosen[NEW]
    with project.database.writing() as connection:
        there = set(connection.execute(sa.select(QUIZ.c.image_id)).scalars())
        if there == wanted:
            return MadeQuiz(len(chosen[OLD]), len(chosen[NEW]), False)
        if connection.execute(sa.select(NAMED.c.quiz_id).limit(1)).first() is not None:
            raise UsageError("the quiz has answers already: its images can't be changed any more")
        connection.execute(sa.delete(QUIZ))
        at = now()
        rows = [{"key": secrets.token_urlsafe(12), "image_id": number, "at": at} for number in sorted(wanted)]
        connection.execute(sa.insert(QUIZ), rows)
        connection.execute(sa.delete(SETTING).where(SETTING.c.key == SEED))
        connection.execute(sa.insert(SETTING).values(key=SEED, value=str(seed)))
    return MadeQuiz(len(chosen[OLD]), len(chosen[NEW]), True)


def next_question(project: Project, worker: int) -> Question | None:
    """The next image that this person is to name; None where there is none left.

    Everybody has an order of their own, and images of both sets in it at random.
    """
    rows = _in_order(project, worker)
    done = _done_by(project, worker)
    left = [row.key for row in rows if row.id not in done]
    return Question(left[0], len(rows) - len(left), len(rows)) if left else None


def key_after_next(project: Project, worker: int) -> str | None:
    """The image after the next one, so that a page can load it ahead."""
    done = _done_by(project, worker)
    left = [row.key for row in _in_order(project, worker) if row.id not in done]
    return left[1] if len(left) > 1 else None


def n_named(project: Project, worker: int) -> int:
    """How many images this person has done."""
    return len(_done_by(project, worker))


def submit_names(project: Project, worker: int, key: str, names: Sequence[str]) -> bool:
    """Keep what a person calls an image; False where the same answer was there already.

    Args:
        key: Of the question.
        names: Of classes, the likeliest first, at most five; none: the person can't tell, which counts as not right.

    Raises:
        RefusedAnswerError: There is no such image or class, or another answer of theirs is there.
    """
    said = list(dict.fromkeys(names))
    if len(said) > MOST_NAMES:
        raise RefusedAnswerError(f"{len(said)} names for one image: at most {MOST_NAMES}")
    unknown = set(said) - set(project.class_numbers())
    if unknown:
        raise RefusedAnswerError(f"no class is named {min(unknown)!r}")
    with project.database.writing() as connection:
        quiz_id = connection.execute(sa.select(QUIZ.c.id).where(QUIZ.c.key == key)).scalar_one_or_none()
        if quiz_id is None:
            raise RefusedAnswerError("this image is not asked about any more; open the page again")
        row = {"quiz_id": quiz_id, "worker_id": worker, "classes": as_text(said), "at": now()}
        if connection.execute(insert_or_leave(project.database, NAMED, row)).rowcount:
            return True
        mine = sa.select(NAMED.c.classes).where(NAMED.c.quiz_id == quiz_id, NAMED.c.worker_id == worker)
        if connection.execute(mine).scalar_one() != row["classes"]:
            raise RefusedAnswerError("you named this image already, and otherwise; undo that first")
    return False


def take_back(project: Project, worker: int) -> bool:
    """Forget the last answer of a person, whose image is the next one again; False where there is none."""
    with project.database.writing() as connection:
        mine = sa.select(NAMED.c.quiz_id).where(NAMED.c.worker_id == worker)
        last = connection.execute(mine.order_by(NAMED.c.at.desc(), NAMED.c.quiz_id.desc()).limit(1)).scalar()
        if last is None:
            return False
        connection.execute(sa.delete(NAMED).where(NAMED.c.worker_id == worker, NAMED.c.quiz_id == last))
    return True


def file_of_question(project: Project, key: str) -> str:
    """The file of the image that a page calls so."""
    query = sa.select(IMAGE.c.file).join(QUIZ, QUIZ.c.image_id == IMAGE.c.id).where(QUIZ.c.key == key)
    for row in project.database.rows(query):
        return str(row.file)
    raise UsageError("no image is shown under that address")


def _in_order(project: Project, worker: int) -> list[Any]:
    rows = project.database.rows(
        sa.select(QUIZ.c.id, QUIZ.c.key, IMAGE.c.key.label("image"))
        .join(IMAGE, IMAGE.c.id == QUIZ.c.image_id)
        .order_by(IMAGE.c.key)
    )
    seed = int(project.database.settings().get(SEED, "0"))
    order = rng_for("quiz order", worker, seed=seed).permutation(len(rows))
    return [rows[at] for at in order]


def _done_by(project: Project, worker: int) -> set[int]:
    return {row.quiz_id for row in project.database.rows(sa.select(NAMED.c.quiz_id).where(NAMED.c.worker_id == worker))}


def _numbers(project: Project, keys: Iterable[str], which: str) -> set[int]:
    """The numbers of images in the database; an error where one is not of the set."""
    wanted = sorted(set(keys))
    found: dict[str, int] = {}
    for start in range(0, len(wanted), KEYS_AT_ONCE):
        some = wanted[start : start + KEYS_AT_ONCE]
        query = sa.select(IMAGE.c.key, IMAGE.c.id).where(IMAGE.c.key.in_(some), IMAGE.c.role == ROLES[which])
        found |= {row.key: row.id for row in project.database.rows(query)}
    missing = [key for key in wanted if key not in found]
    if missing:
        raise UsageError(f"{missing[0]}: no image of the {which} set has that id")
    return set(found.values())


def _known_names(project: Project) -> dict[str, tuple[str, str]]:
    """What images are called: by any of their names the set and the key. A key is a key, whatever else is called so."""
    sets = {role: which for which, role in ROLES.items()}
    rows = project.database.rows(sa.select(IMAGE.c.key, IMAGE.c.role, IMAGE.c.columns))
    names = {str(from_text(row.columns).get("name", "")): (OLD, row.key) for row in rows if row.role == ORIGINAL}
    return {**names, **{row.key: (sets[row.role], row.key) for row in rows}}


def _named(known: Mapping[str, tuple[str, str]], id_: str) -> tuple[str, str] | None:
    """The set and key of what is called so; the file of a release, ``owl/KEY.jpg``, is found by its key."""
    return known.get(id_) or known.get(PurePosixPath(id_).stem)


def _scores(address: str) -> list[tuple[str, float]]:
    try:
        text = addresses.read_bytes(address).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{address}: not a readable CSV file in UTF-8 ({error})") from error
    if not rows or not {"id", "share"} <= set(rows[0]):
        raise DataError(f"{address}: expected the columns 'id' and 'share', and a row for each image")
    return [(row["id"], _share(row["share"], f"{address}: {row['id']}")) for row in rows]


def _share(text: str | None, where: str) -> float:
    try:
        share = float(text or "")
    except ValueError:
        share = float("nan")
    if not 0 <= share <= 1:
        raise DataError(f"{where}: the share of models that are right is {text!r}; expected a number from 0 to 1")
    return share


def _lowest(scores: Mapping[str, float], share: float, seed: int) -> list[str]:
    """The keys with the lowest scores; which of equal ones is drawn."""
    n = max(1, ceil(share * len(scores) - 1e-9))
    drawn = {key: rng_for("quiz ties", key, seed=seed).random() for key in scores}
    return sorted(sorted(scores, key=lambda key: (scores[key], drawn[key]))[:n])


def answers_in_quiz(project: Project) -> list[tuple[int, str, str, str, tuple[str, ...]]]:
    """Worker, set, key of the image, its class, and the names that the worker gave; without blocked workers."""
    sets = {role: which for which, role in ROLES.items()}
    query = (
        sa.select(NAMED.c.worker_id, IMAGE.c.role, IMAGE.c.key, CLASS.c.name, NAMED.c.classes)
        .join(QUIZ, QUIZ.c.id == NAMED.c.quiz_id)
        .join(IMAGE, IMAGE.c.id == QUIZ.c.image_id)
        .join(CLASS, CLASS.c.id == IMAGE.c.class_id)
        .join(WORKER, WORKER.c.id == NAMED.c.worker_id)
        .where(WORKER.c.blocked == 0)
        .order_by(NAMED.c.worker_id, IMAGE.c.key)
    )
    return [
        (row.worker_id, sets[row.role], row.key, row.name, tuple(from_text(row.classes) or ()))
        for row in project.database.rows(query)
    ]


def sizes_of(project: Project) -> dict[str, int]:
    """How many images of each set there are in the quiz."""
    query = sa.select(IMAGE.c.role, sa.func.count()).join(QUIZ, QUIZ.c.image_id == IMAGE.c.id).group_by(IMAGE.c.role)
    counts = {role: int(n) for role, n in project.database.rows(query)}
    return {which: counts.get(role, 0) for which, role in ROLES.items()}
