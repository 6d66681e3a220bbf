// Talks to `wavesieve mcp` with the TypeScript library of the protocol: mcp_client.mjs BINARY ROOT MODULES
// The library is taken from the folder MODULES, in which it was installed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [binary, root, modules] = process.argv.slice(2);
const resolve = createRequire(join(modules, "package.json")).resolve;
const load = async (name) => import(pathToFileURL(resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const say = (line) => console.log(`mcp_client.mjs: ${line}`);
const program = (...words) => JSON.parse(execFileSync(binary, [...words, "-q"], { cwd: root, encoding: "utf8" }));
const records = ({ columns, rows }) =>
  rows.map((row) => Object.fromEntries(row.map((value, at) => [columns[at].name, value])));

const client = new Client({ name: "test", version: "1.0.0" });
const transport = new StdioClientTransport({ command: binary, args: ["mcp", join(root, "fixtures")] });
await client.connect(transport);
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  assert.equal(result.isError, false, JSON.stringify(result));
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
};

say(`server ${client.getServerVersion().name} ${client.getServerVersion().version}`);
const { tools } = await client.listTools();
say(`tools ${tools.map((tool) => tool.name).join(" ")}`);
const { resources } = await client.listResources();
const page = await client.readResource({ uri: "wavesieve://queries/time_breakdown" });
assert.match(page.contents[0].text, /busy_ns/);
say(`${resources.length} resources`);

const table = await call("table", { query: "time_breakdown", inputs: ["two_nodes"], by: ["rank"] });
assert.deepEqual(records(table), program("table", "time_breakdown", "fixtures/two_nodes", "--by", "rank", "-f", "json"));
say(`table: ${table.total_rows} rows; ${table.command}`);
const plot = await client.callTool({ name: "plot", arguments: { query: "idle_by_cause", inputs: ["two_nodes"] } });
assert.equal(plot.content[1].mimeType, "image/png");
say(`plot: ${plot.content[1].data.length} characters of base64`);
const none = await call("table", { query: "bottlenecks", inputs: ["two_nodes"] });
assert.equal(none.abstained, true);
say(`abstained: ${none.reason}`);
const refused = await client.callTool({ name: "info", arguments: { inputs: ["../Cargo.toml"] } });
assert.equal(refused.isError, true);
say(`refused: ${refused.content[0].text}`);

// A call that is given up: the server stops it and answers the next.
const sums = Array.from({ length: 100 }, (_, n) => `SUM(SIN(a.n * 0.5 + b.n + ${n}.25)) AS s${n}`);
const long = `SELECT ${sums.join(", ")} FROM numbers AS a CROSS JOIN (SELECT n FROM numbers WHERE n < 200) AS b`;
const gone = client.callTool({ name: "sql", arguments: { query: long, inputs: ["two_nodes"] } }, undefined, { timeout: 1500 });
await assert.rejects(gone, /timed out/i);
const after = await call("sql", { query: "SELECT COUNT(*) AS n FROM kernels", inputs: ["two_nodes"] });
say(`after a call that was given up: ${after.rows[0][0]} kernels`);
await client.close();
say("closed");
