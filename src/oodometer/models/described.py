"""Networks by their description: what is sent to another process is where to read a network, never the network."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from oodometer.core.errors import ModelError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Place(Protocol[T_co]):
    """Where a network is read from: a value that can be pickled, with a name for messages."""

    def read(self) -> tuple[T_co, str]:
        """The network as it is there now, and the digest of its weights."""
        ...


@dataclass(frozen=True)
class Described(Generic[T]):
    """A network by its description. Each process reads it once, and only if it still is the one described.

    Args:
        name: The model's name.
        place: Where to read it.
        digest: The digest of its weights when the model was loaded.
    """

    name: str
    place: Place[T]
    digest: str

    @cached_property
    def network(self) -> T:
        """The network itself."""
        network, digest = self.place.read()
        if digest != self.digest:
            raise ModelError(
                f"model {self.name}: {self.place} is not what it was when the model was loaded "
                f"(digest {digest[:8]}, not {self.digest[:8]}); load the model again"
            )
        return network

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def described(name: str, place: Place[T], network: T, digest: str) -> Described[T]:
    """The description of a network that was read already: this process does not read it again."""
    description = Described(name, place, digest)
    vars(description)["network"] = network  # where cached_property keeps what it computed
    return description
