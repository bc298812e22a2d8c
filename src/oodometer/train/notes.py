"""How a model was made, as its card tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oodometer.models.card import read_card
from oodometer.train.export_and_verify import precision
from oodometer.train.job import TrainingJob
from oodometer.train.material import Material
from oodometer.train.networks.registry import is_trained
from oodometer.train.objectives.registry import PLAIN
from oodometer.train.recipe import FLOAT32, Recipe


def notes_of(job: TrainingJob, material: Material, key: str) -> dict[str, Any]:
    """How the model was made, for its card."""
    import torch

    from oodometer import __version__

    recipe = job.recipe
    trained = is_trained(recipe.net)
    return {
        "architecture": recipe.net,
        "seed": recipe.seed,
        "recipe": job.recipe_name,
        **(_sgd(recipe) if trained else {}),
        "loss": None if job.dataset.other_labels is None else "binary cross-entropy of every class",
        "label": job.label,
        "hold_out": list(job.hold_outs),
        **job.portion.notes(),
        "iid_test": None if job.test is None or job.portion.fold else "the test images that are published with them",
        "style_images": _name(job.style.images),
        "style_weights": _name(job.style.weights),
        "init": None if job.init is None else job.init.stem,
        "init_training_data": None if job.init is None else _training_data_of(job.init),
        "training_images": len(material.training),
        "threads": torch.get_num_threads() if trained else None,
        "weights": precision(half=job.half),
        "made_with": f"oodometer {__version__}, torch {torch.__version__}",
        "key": key,
    }


def _name(folder: str | None) -> str | None:
    """The folder's own name: where it lies is nobody's business."""
    return None if folder is None else Path(folder).absolute().name


def _training_data_of(checkpoint: Path) -> str | None:
    """What weights were trained on before, where the card of their model lies beside them."""
    card = checkpoint.with_suffix(".toml")
    return read_card(card).training_data if card.is_file() else None


def _sgd(recipe: Recipe) -> dict[str, Any]:
    return {
        "epochs": recipe.epochs,
        "batch": recipe.batch,
        "learning_rate": recipe.lr,
        "schedule": recipe.schedule,
        "warm_up": recipe.warm_up or None,
        "momentum": recipe.momentum,
        "weight_decay": recipe.weight_decay,
        "augment": list(recipe.augment),
        "objective": None if recipe.objective == PLAIN else recipe.objective,
        "objective_weight": recipe.weight,
        "adversarial": recipe.adversarial,
        "eps": recipe.eps,
        "precision": None if recipe.precision == FLOAT32 else recipe.precision,
    }
