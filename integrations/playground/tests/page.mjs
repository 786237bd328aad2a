// Uses the page in a headless browser as people do, at 400 and 1200 pixels, light and dark, and takes pictures.
//
// Usage: node tests/page.mjs PAGE BROWSER PICTURES
//
// PAGE is the folder of the built page, BROWSER a headless shell of Chromium, PICTURES the folder of pictures.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const [folder, browser, pictures] = process.argv.slice(2);
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".wasm": "application/wasm" };

// Resolves when the program may be sent.
let mayLoad = Promise.resolve();
const server = createServer(async (request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname)).replace(/\/$/, "/index.html");
  if (path.endsWith(".gz")) await mayLoad;
  try {
    const body = readFileSync(join(folder, path));
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/plain" }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const address = `http://127.0.0.1:${server.address().port}/`;

// The browser takes commands from a pipe, each ended by a zero.
const profile = mkdtempSync(join(tmpdir(), "playground-"));
const options = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", `--user-data-dir=${profile}`];
// The command may be a script that begins the browser, so both are ended as a group.
const chromium = spawn(browser, options, { detached: true, stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const end = () => process.kill(-chromium.pid, "SIGKILL");
const replies = new Map();
const problems = [];
let count = 0;
let rest = "";
chromium.stdio[4].setEncoding("utf8").on("data", (data) => {
  const messages = (rest + data).split("\0");
  rest = messages.pop();
  for (const message of messages.map((text) => JSON.parse(text))) {
    replies.get(message.id)?.(message);
    if (message.method === "Runtime.exceptionThrown") problems.push(message.params.exceptionDetails.text);
    if (message.method === "Log.entryAdded" && message.params.entry.level === "error") problems.push(message.params.entry.text);
  }
});

function send(method, params = {}, sessionId = undefined) {
  count += 1;
  const id = count;
  return new Promise((resolve, reject) => {
    replies.set(id, ({ result, error }) => (error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result)));
    chromium.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
  });
}

class Page {
  // Opens the page, and returns it when all of it is shown.
  static async open(fragment, width, scheme = "light") {
    const page = await Page.begin(fragment, width, scheme);
    await page.done("the page loads");
    return page;
  }

  static async begin(fragment, width, scheme = "light") {
    const page = await Page.blank(width, scheme);
    await page.send("Page.navigate", { url: address + fragment });
    return page;
  }

  static async blank(width, scheme = "light") {
    const page = new Page();
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    page.target = targetId;
    page.session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    await page.send("Runtime.enable");
    await page.send("Log.enable");
    await page.send("Page.enable");
    await page.send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    return page;
  }

  // Waits until the newest change is shown as a whole.
  done(what) {
    return this.until("(({ change, done }) => change !== undefined && change === done)(document.body?.dataset ?? {})", what);
  }

  send(method, params) {
    return send(method, params, this.session);
  }

  async value(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true });
    assert.equal(exceptionDetails, undefined, expression);
    return result.value;
  }

  async until(expression, what) {
    for (let tries = 0; tries < 1200; tries += 1) {
      if (await this.value(expression)) return;
      await new Promise((wait) => setTimeout(wait, 50));
    }
    assert.fail(`${what}: ${await this.value("document.body.innerText.slice(0, 2000)")}`);
  }

  // Puts a text into a box as keys do, and waits for what follows.
  async type(id, text) {
    await this.value(`{ const box = document.getElementById(${JSON.stringify(id)}); box.value = ${JSON.stringify(text)};
      box.dispatchEvent(new Event("input", { bubbles: true })); box.dispatchEvent(new Event("change", { bubbles: true })); }`);
    await this.done(`${id}: ${text.slice(0, 60)}`);
  }

  async click(selector) {
    await this.value(`document.querySelector(${JSON.stringify(selector)}).click()`);
    await this.done(selector);
  }

  text(id) {
    return this.value(`document.getElementById(${JSON.stringify(id)}).textContent`);
  }

  box(id) {
    return this.value(`document.getElementById(${JSON.stringify(id)}).value`);
  }

  isShown(id) {
    return this.value(`!document.getElementById(${JSON.stringify(id)}).hidden`);
  }

  inputs() {
    return this.value("[...document.querySelectorAll('#inputs pre')].map((pre) => pre.textContent)");
  }

  // Takes pictures of the parts of the page. What is not on the screen is not painted.
  async pictures(name) {
    for (const id of ["left", "tree", "drawing"]) {
      await this.value(`document.getElementById("${id}").scrollIntoView()`);
      await new Promise((wait) => setTimeout(wait, 400));
      const { data } = await this.send("Page.captureScreenshot");
      writeFileSync(join(pictures, `${name}-${id}.png`), Buffer.from(data, "base64"));
    }
  }
}

const REFUSED = "There are no inputs: the grammar has errors.";

async function typingGivesInputs() {
  const page = await Page.open("", 1200);
  assert.equal(await page.text("state"), "Read as ebnf: no errors.");
  assert.equal((await page.inputs()).length, 10);
  const entries = await page.value("history.length");
  await page.type("grammar", "word ::= 'x' [0-9]{2} ';'");
  const inputs = await page.inputs();
  assert.equal(inputs.length, 10);
  inputs.forEach((input) => assert.match(input, /^x[0-9]{2};$/));
  await page.type("count", "3");
  assert.deepEqual(await page.inputs(), inputs.slice(0, 3));
  await page.click("#next");
  assert.equal(await page.box("seed"), "1");
  assert.notDeepEqual(await page.inputs(), inputs.slice(0, 3));
  assert.ok(await page.isShown("drawing"));
  // Numbers are kept within their bounds, in the boxes, too.
  await page.type("count", "5000");
  assert.equal(await page.box("count"), "1000");
  assert.equal((await page.inputs()).length, 1000);
  await page.type("seed", "-3");
  assert.equal(await page.box("seed"), "0");
  await page.type("count", "3");
  assert.equal(await page.value("history.length"), entries, "the browser's history has nothing of this");
  return page;
}

async function aWrongGrammarHasItsPlace(page) {
  await page.type("grammar", "word ::= 'x' other\n\nlist ::= word (");
  assert.match(await page.text("state"), /^Read as ebnf: \d errors?\.$/);
  const said = await page.value("document.getElementById('diagnostics').innerText");
  assert.match(said, /error: line 3, column \d+: /);
  assert.equal(await page.text("inputs-note"), REFUSED);
  assert.equal(await page.text("drawing-note"), "There is no diagram: the grammar has errors.");
  await page.value("document.querySelector('#diagnostics button').click()");
  const start = await page.value("document.getElementById('grammar').selectionStart");
  assert.ok(start >= 20, `the place is selected: ${start}`);
}

async function aTextIsParsed(page) {
  await page.type("grammar", "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9] | list");
  assert.equal(await page.text("text-note"), "The empty text does not conform to the grammar.");
  await page.type("text", "[1,[2]]");
  assert.equal(await page.text("text-note"), "The text conforms to the grammar.");
  assert.ok(await page.isShown("tree"));
  await page.type("text", "[1,\n x]");
  assert.match(await page.text("text-note"), /^line 1, column 4: expected /);
  assert.ok(!(await page.isShown("tree")));
  await page.type("text", "[1,[2]]");
  assert.equal(await page.text("text-note"), "The text conforms to the grammar.");
}

async function aSharedAddressIsTheSamePage(page) {
  await page.type("seed", "41");
  const fragment = await page.value("location.hash");
  assert.match(fragment, /&seed=41&/);
  const other = await Page.open(fragment, 400);
  for (const id of ["grammar", "notation", "seed", "count", "text"]) assert.equal(await other.box(id), await page.box(id), id);
  assert.equal((await other.inputs()).length, 3);
  assert.deepEqual(await other.inputs(), await page.inputs());
  assert.ok((await other.isShown("tree")) && (await other.isShown("drawing")));
  return other;
}

// Ends of lines that a text box does not have are kept until the text is edited, in the address, too.
async function textsAreKeptAsTheyAre(page) {
  await page.type("grammar", "s ::= 'a' #xD #xA 'b'");
  await page.click("#inputs button");
  assert.equal(await page.text("text-note"), "The text conforms to the grammar.");
  const other = await Page.open(await page.value("location.hash"), 1200);
  assert.equal(await other.text("text-note"), "The text conforms to the grammar.");
  await other.type("text", "a\nb");
  assert.equal(await other.text("text-note"), "The text conforms to the grammar.", "it is what the box showed");
  await other.type("text", "a\nbc");
  assert.match(await other.text("text-note"), /^line 1, column 2: expected /);
  await other.type("shipped", "csv");
  await other.type("count", "20");
  const buttons = await other.value("document.querySelectorAll('#inputs button').length");
  for (let number = 0; number < buttons; number += 1) {
    await other.value(`document.querySelectorAll('#inputs button')[${number}].click()`);
    await other.done("a tree");
    assert.match(await other.text("text-note"), /^The (empty )?text conforms to the grammar\.$/);
  }
}

// A page that loads takes no keys, and keeps the state of its link.
async function loadingKeepsTheLink() {
  let load = () => {};
  mayLoad = new Promise((resolve) => (load = resolve));
  const fragment = "#grammar=s+%3A%3A%3D+%27kept%27&seed=5&count=2";
  const page = await Page.begin(fragment, 1200);
  await page.until("document.getElementById('state')?.textContent === 'Loading…'", "the page is there");
  for (const id of ["grammar", "count", "seed", "text"]) {
    await page.value(`document.getElementById("${id}").focus()`);
    await page.send("Input.insertText", { text: "7" });
    await page.value(`document.getElementById("${id}").dispatchEvent(new Event("input", { bubbles: true }))`);
  }
  await page.value("document.getElementById('share').click(), document.getElementById('next').click()");
  await new Promise((wait) => setTimeout(wait, 500));
  assert.equal(await page.value("location.hash"), fragment);
  load();
  await page.done("the page is loaded");
  assert.deepEqual(await page.inputs(), ["kept", "kept"]);
  assert.equal(await page.box("seed"), "5");
}

async function wrongLinksAreTold() {
  const page = await Page.open("#shipped=none&notation=xyz&seed=x&count=0&text=%E0%&other=1", 1200);
  const wrong =
    "The link is wrong: its field text is damaged; no grammar is called none; no notation is called xyz; " +
    "its seed is no number from 0 to 9007199254740991; its count is no number from 1 to 1000.";
  assert.equal(await page.text("link-note"), wrong);
  assert.equal((await page.inputs()).length, 10);
  await page.type("grammar", "s ::= 'typed'");
  assert.equal(await page.text("link-note"), "");
  // What is no state of this page changes nothing.
  await page.value("location.hash = '#other'");
  await new Promise((wait) => setTimeout(wait, 500));
  assert.equal(await page.box("grammar"), "s ::= 'typed'");
  await page.type("text", "x".repeat(40000));
  assert.equal(await page.text("link-note"), "The grammar and the text are too long for a link.");
  assert.equal(await page.value("location.hash"), "");
  await page.type("text", "x".repeat(2 ** 20 + 1));
  assert.equal(await page.text("text-note"), "The text has more than 1 MiB: use the command.");
}

function rules(count) {
  return Array.from({ length: count }, (_, number) => `r${number} ::= 'a' r${(number + 1) % count}?`).join("\n");
}

async function largeDiagramsAreDrawnOnDemand(page) {
  await page.type("grammar", rules(400));
  const note = "The diagram has 400 rules. The page does not answer while the browser lays it out.";
  assert.equal(await page.text("drawing-note"), note);
  assert.ok((await page.isShown("draw")) && !(await page.isShown("drawing")));
  await page.click("#draw");
  assert.ok(!(await page.isShown("draw")) && (await page.isShown("drawing")));
  assert.equal(await page.text("drawing-note"), "");
  await page.type("grammar", rules(5001));
  assert.equal(await page.text("drawing-note"), "5001 rules are too many for a diagram: at most 5000 are drawn.");
}

const STOPPED = /^Stopped: ((the grammar|inputs|the tree|the diagram) would take more than 5 seconds|the grammar or the text is nested too deeply|this takes more than 512 MiB of memory \(.*\))\.$/;

// Returns true if a message says that a task was stopped.
async function isStopped(page, id) {
  return STOPPED.test(await page.text(id));
}

// Grammars and texts that would take for ever, or all memory, end in a message, and the page still works.
async function whatExplodesEnds(page) {
  await page.type("text", "");
  await page.type("grammar", "s ::= s s s s | 'x'{1,1000000} @ 1000");
  assert.ok((await page.inputs()).length > 0 || (await isStopped(page, "inputs-note")), await page.text("inputs-note"));
  await page.type("grammar", rules(40000));
  const many = await page.text("drawing-note");
  assert.ok((await isStopped(page, "drawing-note")) || many === "40000 rules are too many for a diagram: at most 5000 are drawn.", many);
  await page.type("grammar", `s ::= ${"(".repeat(100000)}'x'${")".repeat(100000)}`);
  const isRefused = await page.value("document.querySelector('#diagnostics li.error') !== null");
  assert.ok(isRefused || (await isStopped(page, "state")), await page.text("state"));
  // Each prefix has as many derivations as there are ways to split it.
  await page.type("grammar", "s ::= s s | s s s | 'a' | ''");
  await page.type("text", "a".repeat(20000));
  const said = await page.text("text-note");
  assert.ok((await isStopped(page, "text-note")) || /conforms|memory|steps/.test(said), said);
  await page.type("text", "");
  await page.type("grammar", "s ::= 'works'");
  assert.deepEqual(new Set(await page.inputs()), new Set(["works"]));
  await page.type("grammar", "s ::= 'a'*");
  assert.equal(await page.text("text-note"), "The empty text conforms to the grammar.");
}

async function shippedGrammarsAndNotations(page) {
  await page.type("shipped", "json");
  assert.match(await page.value("location.hash"), /^#shipped=json&/);
  await page.click("#inputs button");
  assert.equal(await page.text("text-note"), "The text conforms to the grammar.");
  const notations = {
    abnf: 's = "a" *t\r\nt = %x61-7A / "(" s ")"\r\n',
    g4: "grammar g; s : 'a' t* EOF ; t : ID | '(' s ')' ; ID : [a-z]+ ; WS : [ \\t]+ -> skip ;",
    lark: 'start: "a" t*\nt: /[a-z]+/ | "(" start ")"\n',
    pest: 's = { "a" ~ t* }\nt = { \'a\'..\'z\' | "(" ~ s ~ ")" }\n',
  };
  const known = await page.value("[...document.querySelectorAll('#notation option')].map((option) => option.value)");
  assert.ok(known.length > 15, `${known}`);
  await page.type("text", "");
  for (const [name, grammar] of Object.entries(notations)) {
    assert.ok(known.includes(name), name);
    await page.type("notation", name);
    await page.type("grammar", grammar);
    assert.match(await page.text("state"), new RegExp(`^Read as ${name}: (no errors|\\d+ warnings?)\\.$`), name);
    (await page.inputs()).forEach((input) => assert.match(input, /^\s*a/i, name));
  }
}

// A tree has the width of its frame.
async function treesAreAsWideAsTheirFrames(page, least, most) {
  await page.value("{ const before = show.tree; show.tree = (answer) => { window.drawn = answer.tree; before(answer); }; }");
  await page.type("text", await page.box("text"));
  const width = Number(/ width="(\d+)"/.exec(await page.value("window.drawn"))[1]);
  assert.ok(width >= least && width <= most, `${width}`);
}

// On a telephone, no diagram is wider than its frame.
async function diagramsFitIntoTheirFrames(fragment) {
  const page = await Page.open(fragment, 375);
  await page.value("{ const before = show.drawing; show.drawing = (answer) => { window.diagram = answer.page; before(answer); }; }");
  await page.type("grammar", await page.box("grammar"));
  const alone = await Page.blank(await page.value("document.getElementById('drawing').clientWidth"));
  await alone.send("Page.setDocumentContent", { frameId: alone.target, html: await page.value("window.diagram") });
  const spare = await alone.value("[...document.querySelectorAll('.scroll')].map((box) => box.clientWidth - box.scrollWidth)");
  assert.ok(spare.length > 1 && spare.every((width) => width >= 0), `${spare}`);
}

async function fits(page, width, name) {
  assert.equal(await page.value("document.documentElement.scrollWidth"), width, `${name}: the page is as wide as the window`);
  await page.pictures(name);
}

async function whole() {
  const page = await typingGivesInputs();
  await aWrongGrammarHasItsPlace(page);
  await fits(page, 1200, "wrong-1200");
  await aTextIsParsed(page);
  await treesAreAsWideAsTheirFrames(page, 500, 640);
  const shared = await aSharedAddressIsTheSamePage(page);
  await treesAreAsWideAsTheirFrames(shared, 346, 370);
  await diagramsFitIntoTheirFrames(await page.value("location.hash"));
  await fits(page, 1200, "text-1200");
  await fits(shared, 400, "text-400");
  await textsAreKeptAsTheyAre(page);
  await loadingKeepsTheLink();
  await wrongLinksAreTold();
  await largeDiagramsAreDrawnOnDemand(page);
  await whatExplodesEnds(page);
  await shippedGrammarsAndNotations(page);
  for (const width of [400, 1200]) {
    const dark = await Page.open("#shipped=json&count=4&seed=2&text=%5B1%2C%20%7B%22a%22%3A%20true%7D%5D", width, "dark");
    await fits(dark, width, `dark-${width}`);
  }
  assert.deepEqual(problems, []);
}

mkdirSync(pictures, { recursive: true });
const limit = setTimeout(() => {
  console.error("the page was not done within ten minutes");
  end();
  process.exit(1);
}, 600000);
try {
  await whole();
  console.log(`the playground works; pictures are in ${pictures}`);
} finally {
  clearTimeout(limit);
  const ended = new Promise((resolve) => chromium.once("exit", resolve));
  end();
  server.close();
  server.closeAllConnections();
  await ended;
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
