"""Looking at paths: many at once as one by one."""

from __future__ import annotations

import os
from pathlib import Path

from prime_skills_ext.catalog.looking import real_path, real_paths


def test_many_paths_lead_where_each_of_them_does(tmp_path: Path) -> None:
    """Links to folders, to files, in a circle and to nothing; whatever is missing."""
    (tmp_path / "real" / "inside").mkdir(parents=True)
    (tmp_path / "real" / "file").write_text("")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "up").symlink_to("..")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "nothing").symlink_to(tmp_path / "missing" / "x")
    paths = [
        *(tmp_path, tmp_path / "link", tmp_path / "link" / "inside"),
        *(tmp_path / "link" / "up" / "real" / "file", tmp_path / "circle" / "x"),
        *(tmp_path / "nothing" / "y", tmp_path / "absent" / "z", Path("/")),
        *(Path("relative") / "x", tmp_path / "link" / ".." / "real"),
    ]
    texts = [*map(os.fspath, paths), f"{tmp_path}/link/", "", ".", "a/../b"]
    assert [real_path(path) for path in texts] == real_paths(texts)
