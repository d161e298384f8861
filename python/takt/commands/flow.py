"""takt flow: Follow messages and say what their time went into."""

from __future__ import annotations

import json as json_format
from dataclasses import replace
from typing import Annotated

import takt_native
from takt import documents, files, inputs, pipeline
from takt.arguments import Argument, Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.documents import Model
from takt.errors import UserError
from takt.flows import flow as flows
from takt.flows import flow_bounds
from takt.text import console
from takt.text.formatting import duration, printable
from takt.text.terminal import show
from takt.verdicts import verdict

EXAMPLES = """
takt flow trace/                                 every path from a source to a sink, the worst first
takt flow trace/ --from /scan --to /cmd_vel      between two topics, nodes or callbacks
takt flow trace/ --to /cmd_vel --why worst       why the latest message was late, in words
takt flow trace/ --goals goals.yaml --why worst  the same of the message that takt latency has
takt flow trace/ --chain '/scan->/motor' --why 9 of a chain that takt latency names, by its number
takt flow trace/ --from /scan --max 100ms        exit status 1 if a message took longer
takt flow trace/ --from /scan --bound model.json what was seen of each term of the bound
takt flow trace/ --from /scan -o flow.html       the viewer, with these flows as its chains
takt flow trace/ --json --instances              every instance with its times, for scripts
takt flow host1/ host2/                          traces of several hosts, their clocks aligned
"""


def flow(
    traces_and_model: Annotated[
        list[str],
        Argument(
            metavar="TRACE... [MODEL]",
            help="CTF directories or archives of them, also of several hosts; with a takt/model "
            "document the flows are its chains, as with --goals.",
        ),
    ],
    source: Annotated[
        str | None,
        Option(
            "--from", metavar="NAME", help="Where flows begin: a topic, node, node:topic, callback."
        ),
    ] = None,
    sink: Annotated[
        str | None,
        Option(
            "--to", metavar="NAME", help="Where flows end: a topic, node, node:topic or callback."
        ),
    ] = None,
    why: Annotated[
        str | None,
        Option(
            metavar="INSTANCE",
            help="Tell the story of one instance: its number, or 'worst'.",
        ),
    ] = None,
    limit: Annotated[
        str | None,
        Option("--max", metavar="TIME", help="Exit status 1 if a latency is larger: 100ms."),
    ] = None,
    bound: Annotated[
        str | None,
        Option(
            metavar="MODEL",
            help="Set what was seen beside the terms of a chain's bound in this model, whose joins "
            "count for links, too.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        Option("--output", "-o", metavar="FILE", help="Write the viewer's page with these flows."),
    ] = None,
    instances: Annotated[
        bool, Option("--instances", help="List every instance with its times, with --json.")
    ] = False,
    infer: Annotated[
        bool,
        Option(
            "--infer/--declared",
            help="Where nodes declare no message links, believe what their behaviour suggests.",
        ),
    ] = True,
    goals: Annotated[
        str | None,
        Option(
            "--goals",
            metavar="FILE",
            help="The chains of this file, with the instances, begins and ends that takt latency "
            "measures.",
        ),
    ] = None,
    chain: Annotated[
        str | None,
        Option(
            "--chain",
            metavar="ID",
            help="This chain alone, as takt latency measures it: of --goals, of MODEL, or else of "
            "the model that the traces make.",
        ),
    ] = None,
    links: Annotated[
        str | None,
        Option(
            "--links",
            metavar="FILE",
            help="A goals file, or one like it, that declares or denies links within nodes; see "
            "docs/goals.md.",
        ),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print the takt/flow document.")] = False,
) -> None:
    """Follow messages and say what their time went into.

    A latency is from the moment at which the source calls publish to the start of the sink's
    callback, once for each message that the sink handles; with --goals, --chain or MODEL, from the
    activation of the chain's first callback to its end, as takt latency measures it. Its parts add
    up to it exactly.
    """
    given = inputs.sort(traces_and_model)
    if given.bounds or given.measurement:
        raise UserError("bounds and measurements tell of no message; leave them out")
    if not given.traces:
        raise UserError("no trace: name a recording")
    traces = given.traces
    others = {
        "--from": source,
        "--to": sink,
        "--bound": bound,
        "--links": links,
        "--output": output,
        "--instances": instances or None,
    }
    ways = {"--goals": goals, "--chain": chain, "a model": given.model}
    named, option = (
        next((name for name, value in values.items() if value is not None), None)
        for values in (ways, others)
    )
    if named and option:
        raise UserError(f"{option}: not with {named}, which names chains and links; leave it out")
    most = None if limit is None else _time(limit)
    if output == files.STANDARD_STREAM:
        raise UserError("-o -: name a file for the page")
    has_words = why is not None or limit is not None or bound is not None
    options: pipeline.Json = {"instances": instances, "infer": infer, "parts": json or has_words}
    options |= {name: value for name, value in (("from", source), ("to", sink)) if value}
    if links is not None:
        options["links"] = inputs.goals_file(links).links
    if why is not None and why != "worst":
        if not why.isdecimal():
            raise UserError(f"--why {why}: not the number of an instance, and not 'worst'")
        options["asked"] = int(why)
    model = None
    if bound is not None or output is not None:
        model = inputs.model(traces if bound is None else [bound])
        options |= {"model": model.text, "joins": bound is not None}
    if named is None:
        document = pipeline.flow(traces, options)
    else:
        from takt.flows import chain_flows  # with what it needs, which a recording alone does not

        measured = inputs.model_of(given, goals)
        document = chain_flows.document(traces, measured, options.get("asked"), chain)
    if model is not None and bound is not None:
        document["bound"] = flow_bounds.compare(document, model, pipeline.DEFAULT_ANALYSIS)
    for warning in document["provenance"]["warnings"]:
        console.say(f"takt: warning: {warning}")
    found = document["flows"]
    if json:
        console.print_json(document)
    elif why is not None:
        pair = flows.find_instance(document, why)
        if pair is None:
            nothing = flows.nothing(document) if named is None else flows.NO_CHAIN
            lost = "no flow has this instance" if found else nothing
            raise UserError(f"--why {why}: {lost}")
        show(*map(printable, flows.story(*pair)))
    elif bound is not None:
        show(flow_bounds.table(document["bound"]))
    elif found:
        show(flows.table(found))
        pairs = len({(path["from"], path["to"]) for path in found})
        rows = len(found) if pairs == 1 or named is not None else pairs
        console.say(f"takt: {flows.measures(found)}")
        for line in flows.guessed(found):
            console.say(line)
        if rows > flows.MOST_SHOWN:
            console.say(f"takt: {rows - flows.MOST_SHOWN} more; --json has all")
    else:
        console.say(f"takt: {flows.nothing(document) if named is None else flows.NO_CHAIN}")
    if model is not None and output is not None:
        page, missing = _page(traces, document, *model)
        files.write_text(output, page)
        for line in flows.left_out(missing):
            console.say(f"takt: not in {output}: {line}")
        console.say(f"wrote {output}")
    if most is not None:
        _check(found, most)


def _page(
    traces: list[str], document: pipeline.Json, text: str, source: str
) -> tuple[str, dict[str, str]]:
    """The viewer's page with the document's flows as chains of the model, and the flows that it
    cannot show: their names, each with the reason.
    """
    from takt.report import view

    chains, missing = flows.chains(document, documents.parse(Model, text, source))
    given = inputs.Given(traces, _with_chains(text, source, chains))
    evaluation = inputs.evaluate(given, pipeline.DEFAULT_ANALYSIS)
    # The page measures chains, which at a join follow the message that completes the set.
    judged = verdict.judge(evaluation.model, evaluation.bounds, evaluation.measurement)
    idle = {each.chain.id: each.reasons[-1] for each in judged if each.idle}
    shown = [chain for chain in chains if chain["id"] not in idle]
    model = _with_chains(text, source, shown)
    evaluation = replace(evaluation, text=model, model=documents.parse(Model, *model))
    judged = [each for each in judged if each.chain.id not in idle]
    page = view.page_of(traces, evaluation, judged, inputs.title(traces))
    return page, missing | idle


def _with_chains(model: str, source: str, chains: list[pipeline.Json]) -> inputs.ModelText:
    document = json_format.loads(model) | {"chains": chains}
    return inputs.ModelText(json_format.dumps(document), source)


def _time(text: str) -> int:
    nanoseconds = takt_native.parse_time(text)
    if nanoseconds is None:
        raise UserError(f"--max {text}: not a time with its unit, like 100ms or 0.5s")
    return nanoseconds


def _check(found: list[pipeline.Json], most: int) -> None:
    """Answers no if a latency is above the largest allowed, or if there is none."""
    if not found:
        console.say("takt: --max: nothing was measured")
        raise Exit(ANSWER_IS_NO)
    named = zip(flows.names(found), found, strict=True)
    late = []
    for name, flow in named:
        if flow["max"] > most:
            late.append((name, flow))
        elif flow["uncertain"] and (flow["at_most"] is None or flow["at_most"]["max"] > most):
            unknown = "by any time" if flow["at_most"] is None else duration(flow["at_most"]["max"])
            console.say(
                f"takt: {name}: it is not known whether {duration(most)} was kept, as it is not "
                f"known which messages a join used; by the oldest possible ones {unknown}"
            )
            raise Exit(ANSWER_IS_NO)
    for name, flow in late:
        console.say(
            f"takt: {name}: {duration(flow['max'])} is above {duration(most)}; "
            f"{flows.cause(flow, flow['worst'][0])}"
        )
    if late:
        raise Exit(ANSWER_IS_NO)
