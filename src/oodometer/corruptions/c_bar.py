"""The ten corruptions of ImageNet-C-bar (Mintun, Kirillov and Xie 2021), all lengths scaled to the image.

They were published for square images of side S. Here S is the shorter side wherever a length in pixels depends on
it, and centres are drawn over the height and the width. A severity's constant is a share of ten: constant / 10 times
the largest value of the parameter that it steers.
"""

from oodometer.corruptions.c_bar_cutout import checkerboard_cutout
from oodometer.corruptions.c_bar_perlin import perlin_noise
from oodometer.corruptions.c_bar_refraction import caustic_refraction
from oodometer.corruptions.c_bar_sparkles import inverse_sparkles, sparkles
from oodometer.corruptions.c_bar_spectrum import blue_noise_sample, brownish_noise
from oodometer.corruptions.c_bar_waves import cocentric_sine_waves, plasma_noise, single_frequency_greyscale

__all__ = [
    "blue_noise_sample",
    "brownish_noise",
    "caustic_refraction",
    "checkerboard_cutout",
    "cocentric_sine_waves",
    "inverse_sparkles",
    "perlin_noise",
    "plasma_noise",
    "single_frequency_greyscale",
    "sparkles",
]
