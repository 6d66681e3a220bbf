"""Talks to `wavesieve mcp` with the Python library of the protocol, and compares what it gets with what the program prints.

Once with the handshake, once with the version that has none. Prints a line for each step.
"""

import argparse
import asyncio
import base64
import json
import subprocess
import sys
from pathlib import Path

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"


def say(mode, line):
    print(f"mcp_client ({mode}): {line}")


def program(binary, *arguments):
    done = subprocess.run([binary, *arguments, "-q"], cwd=ROOT, capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def records(answer):
    names = [column["name"] for column in answer["columns"]]
    return [dict(zip(names, row, strict=True)) for row in answer["rows"]]


async def use(binary, mode):
    server = StdioServerParameters(command=binary, args=["mcp", str(FIXTURES), "--time-limit", "60"])
    async with Client(stdio_client(server), mode=mode) as client:
        assert client.server_info.name == "wavesieve", client.server_info
        assert "abstained" in client.instructions
        say(mode, f"version {client.protocol_version}, server {client.server_info.name} {client.server_info.version}")

        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            assert json.loads(result.content[0].text) == result.structured_content
            return result.structured_content

        async def fail(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            assert result.is_error, (tool, arguments)
            return result.structured_content

        tools = (await client.list_tools()).tools
        assert all(tool.annotations.read_only_hint for tool in tools)
        say(mode, "tools " + " ".join(tool.name for tool in tools))
        resources = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        pages = [(await client.read_resource(str(resource.uri))).contents[0].text for resource in resources]
        assert all(pages) and len(templates) == 2
        say(mode, f"{len(resources)} resources of {sum(map(len, pages))} characters, {len(templates)} templates")

        info = await call("info", inputs=["two_nodes"])
        # The program was given another form of the path.
        sources = [{"source": row["source"]} for row in records(info)]
        printed = program(binary, "info", "fixtures/two_nodes", "-f", "json")
        assert records(info) == [row | source for row, source in zip(printed, sources, strict=True)]
        say(mode, f"info: {info['headline']}")
        for query, options, arguments in [
            ("time_breakdown", ["--by", "rank,gpu"], {"by": ["rank", "gpu"]}),
            ("kernel_summary", ["--top", "3", "--name", "short"], {"top": 3, "name": "short"}),
            ("idle_by_cause", ["--rank", "0-1"], {"filters": {"rank": "0-1"}}),
        ]:
            answer = await call("table", query=query, inputs=["two_nodes"], **arguments)
            assert records(answer) == program(binary, "table", query, "fixtures/two_nodes", *options, "-f", "json"), query
            say(mode, f"table {query}: {answer['total_rows']} rows; {answer['command']}")
        statement = "SELECT rank, COUNT(*) AS dispatches FROM kernels GROUP BY rank ORDER BY rank"
        answer = await call("sql", query=statement, inputs=["two_nodes"])
        assert records(answer) == program(binary, "sql", statement, "fixtures/two_nodes", "-f", "json")
        say(mode, f"sql: {records(answer)}")

        analysis = await call("analyze", inputs=["planted"])
        document = program(binary, "analyze", "fixtures/planted", "-f", "json")
        assert [one["id"] for one in analysis["findings"]] == [one["id"] for one in document["findings"]]
        findings = await call("findings", inputs=["planted"], priority=["high"])
        say(mode, f"analyze: {len(analysis['findings'])} findings, {len(findings['findings'])} of them high")
        compared = await call("compare", base=["two_nodes"], new=["two_nodes"])
        say(mode, f"compare: {compared['verdict']}")
        scanned = await call("scan", path="source")
        say(mode, f"scan: {scanned['summary']}")
        plan = await call("plan", counters=["SQ_WAVES", "TCC_HIT", "TCC_MISS"], arch="MI300X")
        say(mode, f"plan: {plan['plan']['passes'][0]['counters']}")
        drawn = await client.call_tool("plot", {"query": "kernel_summary", "inputs": ["two_nodes"]})
        picture = base64.b64decode(drawn.content[1].data)
        assert picture.startswith(b"\x89PNG\r\n\x1a\n") and drawn.content[1].mime_type == "image/png"
        say(mode, f"plot: a picture of {len(picture)} bytes")

        answer = await call("table", query="bottlenecks", inputs=["two_nodes"])
        assert answer["abstained"] and answer["exit"]["name"] == "no_data", answer
        say(mode, f"abstained: {answer['reason']}")
        for tool, arguments in [
            ("info", {"inputs": ["/etc/passwd"]}),
            ("sql", {"query": "DELETE FROM kernels", "inputs": ["two_nodes"]}),
            ("table", {"query": "kernel_sumary", "inputs": ["two_nodes"]}),
        ]:
            failure = await fail(tool, **arguments)
            assert failure["exit"]["name"] == "usage", failure
            say(mode, f"refused: {failure['error']}")
        for wrong in (lambda: client.call_tool("rm", {}), lambda: client.read_resource("wavesieve://tables/none")):
            try:
                await wrong()
            except MCPError as error:
                say(mode, f"error of the protocol: {error}")
            else:
                raise AssertionError("an error was expected")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    binary = str(Path(parser.parse_args().binary).resolve())
    for mode in ("legacy", "auto"):
        asyncio.run(use(binary, mode))
    return 0


if __name__ == "__main__":
    sys.exit(main())
