"""Which import names come with which distribution, where nobody can be asked.

What is installed answers that from its metadata; this is for what is not, and for
the distributions whose name says nothing about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, final

__all__ = ["DEFAULT_PACKAGES", "IMPORT_NAMES", "Distributions", "looks_like"]

#: Import name to the requirement that brings it, for the twelve packages that the
#: environment of the reference system always holds.
DEFAULT_PACKAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bs4": "beautifulsoup4",
        "dotenv": "python-dotenv",
        "httpx": "httpx",
        "lxml": "lxml",
        "numpy": "numpy",
        "pandas": "pandas",
        "pydantic": "pydantic",
        "requests": "requests",
        "scipy": "scipy",
        "tomli": "tomli",
        "tyro": "tyro",
        "yaml": "pyyaml",
    }
)

#: Distribution to import name where neither looks like the other.
IMPORT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{requirement: name for name, requirement in DEFAULT_PACKAGES.items()},
        "attrs": "attr",
        "opencv-python": "cv2",
        "opencv-python-headless": "cv2",
        "pillow": "PIL",
        "pycryptodome": "Crypto",
        "pygithub": "github",
        "pyjwt": "jwt",
        "pymupdf": "fitz",
        "pypdf2": "PyPDF2",
        "pyserial": "serial",
        "python-dateutil": "dateutil",
        "python-docx": "docx",
        "python-pptx": "pptx",
        "pyzmq": "zmq",
        "scikit-image": "skimage",
        "scikit-learn": "sklearn",
    }
)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Distributions:
    """What the metadata of installed distributions says, by canonical name.

    Attributes:
        provides: The top-level names that each one brings.
        requires: The distributions that each one requires.
    """

    provides: Mapping[str, frozenset[str]] = field(default_factory=dict)
    requires: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def provider(self, name: str) -> str | None:
        """Return the distribution that brings an import name."""
        found = (item for item, names in self.provides.items() if name in names)
        return min(found, default=None)

    def reach(self, names: frozenset[str]) -> frozenset[str]:
        """Return these distributions and all that they require in turn."""
        reached: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in reached:
                reached.add(name)
                pending += self.requires.get(name, ())
        return frozenset(reached)


def looks_like(distribution: str, name: str) -> bool:
    """Tell whether a distribution is named like a module: ``python-slugify``, say."""
    plain = distribution.replace("-", "").replace(".", "").lower()
    wanted = name.replace("_", "").lower()
    return plain in {wanted, f"python{wanted}", f"{wanted}python", f"py{wanted}"}
