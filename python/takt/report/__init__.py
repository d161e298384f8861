"""The self-contained HTML report of a model, its bounds and what was measured.

`page` puts documents into words, `figures` into charts, `graph` into a drawing; the template and
its style and script are in `assets`. Reports read documents, never internals.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import takt
from takt import assumptions, glossary, verdict
from takt.documents import Bounds, MeasuredChain, Measurement, Model
from takt.errors import UserError
from takt.formatting import count, duration, printable
from takt.report import figures, graph, page
from takt.verdict import Verdict

if TYPE_CHECKING:
    import jinja2


def render(
    model: Model,
    bounds: Bounds,
    measurement: Measurement | None,
    verdicts: list[Verdict] | None = None,
    title: str | None = None,
) -> str:
    """The report as one HTML page that loads nothing, with the title `title`, or else the model's
    name; `verdicts` are those on its chains, by default without remedies. UserError if Graphviz is
    not installed, or libraries are missing.
    """
    try:
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs

        template = _template()
    except ModuleNotFoundError as missing:
        raise UserError(
            f"reports need {missing.name}, which is not installed: pip install 'takt-ros[report]'"
        ) from missing
    findings = assumptions.examine(model, bounds, measurement) if measurement else []
    if verdicts is None:
        verdicts = verdict.judge(model, bounds, measurement)
    charts: dict[str, figures.Figure] = {}
    distributions = []
    for i, judged in enumerate(verdicts):
        if judged.measured is None or not judged.measured.samples:
            continue
        limit = judged.bound.bound if judged.bound else None
        charts[f"chain{i}"] = figures.latency(judged.measured, limit, judged.chain.goal)
        distributions.append(_panel(i, judged.chain.id, judged.measured))
    if measurement is not None:
        whole = {
            "callbacks": figures.callbacks(model, bounds, measurement),
            "timeline": figures.timeline(model, measurement),
        }
        charts |= {name: chart for name, chart in whole.items() if chart is not None}

    drawing = graph.draw(model)
    data = {
        "figures": charts,
        "chains": [graph.chain_parts(model, chain) for chain in model.chains],
    }
    ways = list(page.way_rows(model, measurement))
    plotly, script = get_plotlyjs(), _asset("report.js")
    documents = [document for document in (model, bounds, measurement) if document is not None]
    sections = [
        ("chains", "Chains", bool(verdicts)),
        ("graph", "Graph", True),
        ("latencies", "Latencies", bool(distributions)),
        ("callbacks", "Callbacks", True),
        ("ways", "Ways", bool(ways)),
        ("timeline", "Timeline", "timeline" in charts),
        ("assumptions", "Assumptions", True),
        ("glossary", "Glossary", True),
        ("origin", "Origin", True),
    ]
    return template.render(
        takt_version=takt.__version__,
        title=title or model.name or "Timing report",
        content_security_policy=_content_security_policy(plotly, script),
        style=Markup(_asset("report.css")),
        sections=[(anchor, name) for anchor, name, shown in sections if shown],
        provenance=provenance(bounds, measurement),
        tiles=list(page.tiles(verdicts, model, measurement)),
        notices=list(page.notices(verdicts, findings, bounds, model, measurement)),
        measured=measurement is not None,
        chains=list(page.chain_rows(verdicts, model)),
        graph=None if drawing is None else Markup(drawing),
        graph_note=_graph_note(model, drawing),
        distributions=distributions,
        callback_figure="callbacks" if "callbacks" in charts else None,
        callback_groups=list(page.callback_groups(model, bounds, measurement)),
        ways=ways,
        timeline_figure="timeline" if "timeline" in charts else None,
        assumptions=list(page.assumption_rows(findings, measurement)),
        origin=list(page.origin(documents)),
        glossary=glossary.entries(),
        data=Markup(_script_json(data)),
        plotly=Markup(plotly),
        script=Markup(script),
    )


def _panel(position: int, chain: str, measured: MeasuredChain) -> dict[str, Any]:
    numbers = (
        f"p50 {duration(measured.p50)}, p99 {duration(measured.p99)}, max {duration(measured.max)}"
    )
    incomplete = f"; {measured.incomplete} incomplete" if measured.incomplete else ""
    return {
        "chain": position,
        "title": chain,
        "note": f"{count(measured.count, 'message')}{incomplete}",
        "figure": f"chain{position}",
        "description": f"Latency distribution of {chain}: {numbers}",
    }


def _graph_note(model: Model, drawing: str | None) -> str:
    if drawing is None:
        return (
            "The graph is empty or too large to be drawn; the table of callbacks lists everything."
        )
    hidden = len(model.callbacks) - len(graph.drawn_callbacks(model))
    return f"{count(hidden, 'callback')} without a connection are not drawn." if hidden else ""


def provenance(bounds: Bounds, measurement: Measurement | None) -> list[str]:
    """Where, when and how the numbers came about, for the line under the title."""
    analysis = f"{bounds.analysis.replace('_', ' ')} analysis" if bounds.analysis else "no analysis"
    if measurement is None:
        return ["from a model, nothing measured", analysis]
    words = measurement.provenance
    hosts = words.get("hosts")
    where = [f"recorded on {', '.join(map(str, hosts))}"] if isinstance(hosts, list) else []
    when = [str(words["recorded"])] if "recorded" in words else []
    return [*where, *when, analysis]


def _content_security_policy(*scripts: str) -> str:
    """Lets the browser run these scripts alone and load nothing from anywhere, whatever a hostile
    name in a trace may have smuggled in. Plotly writes styles itself.
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"


def _script_json(data: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.from_string(_asset("report.html.j2"))


def _asset(name: str) -> str:
    return (resources.files(__name__) / "assets" / name).read_text(encoding="utf-8")
