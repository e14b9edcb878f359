"""`sfumato schema`, and the schema file beside a draft."""

from __future__ import annotations

import json
from pathlib import Path

import sfumato as sf
from sfumato.bundles.manifest.releases import json_schema as manifest_schema
from sfumato.pipeline.plan_schema import json_schema


def test_the_command_prints_both(run):
    for what, schema in (("plan", json_schema()), ("manifest", manifest_schema())):
        for words in (("schema", what), ("schema", what, "--json")):
            assert run(*words).json == json.loads(json.dumps(schema))
    assert run("schema", "bundle").code == 2


def test_a_draft_names_the_schema_beside_it(run, tmp_path: Path):
    sf.datasets.census(50, seed=1).write_csv(tmp_path / "d.csv")
    assert run("profile", tmp_path / "d.csv", "-o", tmp_path / "my plan.toml").code == 0
    assert (tmp_path / "my plan.toml").read_text().startswith("#:schema ./my%20plan.schema.json\n# Drafted by")
    assert json.loads((tmp_path / "my plan.schema.json").read_text()) == json.loads(json.dumps(json_schema()))
    assert sf.Plan.load(tmp_path / "my plan.toml").columns
    (tmp_path / "my plan.toml").unlink()
    assert run("profile", tmp_path / "d.csv", "-o", tmp_path / "my plan.toml").code == 0
    (tmp_path / "my plan.toml").unlink()
    (tmp_path / "my plan.schema.json").write_text("mine")
    refused = run("profile", tmp_path / "d.csv", "-o", tmp_path / "my plan.toml")
    assert (refused.code, "my plan.schema.json" in refused.err) == (2, True)
    assert run("profile", tmp_path / "d.csv", "-o", tmp_path / "my plan.toml", "--force").code == 0
