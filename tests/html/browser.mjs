// The browser, and pages in it that are watched for errors and requests.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.MODULES, "package.json"));
export const axeSource = require.resolve("axe-core/axe.min.js");

export const launch = () =>
  require("playwright-core").chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

// A page of a file: what it complains about and asks for is kept.
export const open = async (browser, file, options = {}, prepare = null) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  // Tests compile at the same time.
  page.setDefaultTimeout(30_000);
  const watched = { complaints: [], requests: [] };
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) watched.complaints.push(message.text());
  });
  page.on("pageerror", (error) => watched.complaints.push(error.message));
  page.on("dialog", (dialog) => {
    watched.complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith("data:")) watched.requests.push(request.url());
  });
  if (prepare) await page.addInitScript(prepare);
  await page.goto(pathToFileURL(file).href);
  return { page, watched, close: () => context.close() };
};
