"""The section of the scatter plot: accuracy under each shift against clean accuracy, with the line."""

from __future__ import annotations

from oodometer.document.section import Plot, Section
from oodometer.report.html.scatter_data import scatter_data
from oodometer.study import Study

LEAD = (
    "Each mark is a model: across, its accuracy on the clean set; up, its accuracy under the shift. "
    "Below the dashed line a model loses by the shift. Most models lose about as much as others of their clean "
    "accuracy: they lie near one line. How far a model stands above that line is its effective robustness ρ, which a "
    "higher clean accuracy alone does not explain.",
)

CAPTION = (
    "Every model on two sets of images, on axes on which the line is straight; thin bars are the intervals of "
    "the accuracies. Choose a shift or any two sets, switch categories on and off, find models by name; drag to "
    "enlarge, double-click to see all again. The address of the page keeps what is chosen."
)


def section(study: Study) -> Section | None:
    """The plot of every shift, and of any condition against any other; None where there are no two to compare."""
    data = scatter_data(study)
    if len(data["columns"]) < 2:
        return None
    plot = Plot("scatter-plot", CAPTION, "scatter", data, height=560)
    return Section("scatter", "Accuracy under shift against clean accuracy", LEAD, (plot,), short="Scatter")
