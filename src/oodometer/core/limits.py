"""How much a file may ask for before it is refused: each bound lies far above what real files need."""

from __future__ import annotations

MAX_CLASSES = 1_000_000
"""Numbered classes, or outputs of a model. The largest published label sets have some 20,000; a space of classes is a
list of names, which a label of 2,000,000,000 would fill the memory with."""

MAX_PIXELS = 178_956_970
"""Of an image: twice the size at which Pillow begins to warn. What is larger is taken for a decompression bomb."""

MAX_SIDE = 65_535
"""Pixels of a side: the largest of a JPEG. Pillow's weights for shrinking a side grow with it, to gigabytes."""

MAX_INPUT_SIDE = 16_384
"""Pixels of a side of what a model is shown, or of the image before the crop; the largest published are 1,024."""

LARGE_BYTES = 2**28
MAX_SHRUNK = 100
"""An array of more than LARGE_BYTES that was compressed to less than a hundredth holds next to nothing, and would fill
the memory: no real images, logits, classes or ids shrink so much."""

MAX_CARD_BYTES = 2**26
"""Of a model's card or a file of class names: a million names of 60 letters."""

MAX_TENSOR_BYTES = 2**29
"""Of a tensor inside an ONNX network that is shown one image, unless its weights are larger; those of published
classifiers are below 2**27."""

MAX_LOOPS = 10_000
"""Passes through the loops of an ONNX network for one image; classifiers are exported without any."""

MAX_MESSAGE = 1000
"""Characters of an error: what a file says may be quoted in it."""

MAX_OPENING_SECONDS = 600
"""Until an ONNX network is ready: what follows from its weights alone is computed then."""

MAX_IMAGE_SECONDS = 120
"""Of a forward pass, for each image, on one core; the largest published classifiers take some ten."""
