// The page: what is typed goes to a worker, task by task, and its answers are shown. A task that takes longer than
// `LIMIT` is stopped with its worker, so that the page never hangs.
"use strict";

// Milliseconds that a task may take.
const LIMIT = 5000;
// Milliseconds after the last key before a worker begins.
const PAUSE = 250;
// The most characters of an input that are shown.
const SHOWN = 4000;
// The most characters of the state in a link.
const LONGEST_LINK = 32 << 10;
// The width of a frame's borders and of its scroll bar, in pixels.
const FRAME = 20;
const FIRST = `-- A grammar in gramjet's EBNF. Change it, or choose another one above.
list ::= "[" (item ("," item)*)? "]"
item ::= number @ 3 | word | list
number ::= [1-9] [0-9]{0,3}
word ::= '"' [a-z]{1,8} '"'
`;
const TASKS = ["grammar", "inputs", "tree", "drawing"];
const NAMES = { lists: "the list of grammars", grammar: "the grammar", inputs: "inputs", tree: "the tree", drawing: "the diagram" };

const at = (id) => document.getElementById(id);
let module = null;
let worker = null;
const shipped = new Map();
// Whether the state of the address has been restored. Before that nothing is asked for, or saved.
let isReady = false;
// The number of the newest change of the page.
let change = 0;
// The number of the newest task. An answer to an older one is not shown.
let sent = 0;
let waiting = [];
let running = null;
// Whether a large diagram is wanted.
let isWhole = false;
// The frames that are loading.
const loading = new Set();
let timer = 0;
let touched = new Set();

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function button(text, onclick) {
  const made = element("button", text);
  made.type = "button";
  made.onclick = onclick;
  return made;
}

function say(id, text, kind) {
  at(id).textContent = text;
  at(id).classList.toggle("bad", kind === "bad");
  at(id).classList.toggle("good", kind === "good");
}

// A text box turns all ends of lines into LF, so its value may be another text than the one that was put into it. The
// text itself counts until the box is edited.
const exact = new Map();

function put(id, text) {
  at(id).value = text;
  exact.set(id, { text, shown: at(id).value });
}

function textOf(id) {
  const last = exact.get(id);
  return last && last.shown === at(id).value ? last.text : at(id).value;
}

// Returns the number in a box, within its bounds.
function numberOf(id) {
  const { value, min, max } = at(id);
  return Math.min(Math.max(Math.floor(Number(value)) || 0, Number(min)), Number(max));
}

// Tells in the page itself which change was the newest one, and which one is shown as a whole, for tests.
function settle() {
  document.body.dataset.change = change;
  if (isReady && !running && waiting.length === 0 && timer === 0 && loading.size === 0) document.body.dataset.done = change;
}

// Begins a worker. The program is compiled once for all of them.
function begin() {
  if (worker) worker.terminate();
  const begun = new Worker("worker.js");
  worker = begun;
  begun.onmessage = ({ data }) => {
    if (begun !== worker) return;
    if (data.failed) fail(data.failed);
    else done(data);
  };
  begun.onerror = (event) => begun === worker && fail(event.message ?? "its worker cannot be loaded");
  begun.postMessage({ module });
}

// Says why nothing can be computed any more.
function fail(reason) {
  if (running) clearTimeout(running.stop);
  running = null;
  waiting = [];
  say("state", `The playground cannot be started: ${reason}`, "bad");
  settle();
}

// Sends the next task to the worker.
function next() {
  if (running) return;
  if (waiting.length === 0) return settle();
  const request = waiting.shift();
  sent += 1;
  running = { id: sent, request, stop: setTimeout(stop, LIMIT) };
  worker.postMessage({ id: sent, request });
}

// Ends a task that takes too long. The others go on with a new worker.
function stop() {
  const { request } = running;
  running = null;
  begin();
  const seconds = LIMIT / 1000;
  show[request.task]({ error: `Stopped: ${NAMES[request.task]} would take more than ${seconds} seconds.` });
  next();
}

function done({ id, answer, isBroken }) {
  if (!running || running.id !== id) return;
  const { task } = running.request;
  clearTimeout(running.stop);
  running = null;
  if (isBroken) begin();
  show[task](answer);
  next();
}

// Asks for all that depends on what has changed. A task that runs for an older state is ended, as it would keep the
// others waiting.
function ask(tasks) {
  if (running) {
    const pending = [running.request.task, ...waiting.map((request) => request.task)];
    tasks = TASKS.filter((task) => tasks.includes(task) || pending.includes(task));
    clearTimeout(running.stop);
    running = null;
    begin();
  }
  const base = { grammar: textOf("grammar"), notation: at("notation").value };
  const more = {
    inputs: { seed: numberOf("seed"), count: numberOf("count") },
    tree: { text: textOf("text"), width: Math.max(at("right").clientWidth - FRAME, 0) },
    drawing: { whole: isWhole },
  };
  waiting = tasks.map((task) => ({ task, ...base, ...more[task] }));
  next();
  settle();
}

function place({ line, column }) {
  return `line ${line}, column ${column}`;
}

function described(one) {
  const kind = one.error ? "error" : "warning";
  const item = element("li", undefined, kind);
  item.append(element("b", `${kind}: `));
  if (one.place) item.append(button(place(one.place), () => select(one.place)), ": ");
  item.append(one.message);
  if (one.help) item.append(element("p", one.help));
  return item;
}

function counted(number, noun) {
  return number > 0 ? [`${number} ${noun}${number === 1 ? "" : "s"}`] : [];
}

function input({ text, hex, bytes }, number) {
  const whole = text ?? hex;
  const pre = element("pre", whole.length > SHOWN ? whole.slice(0, SHOWN) + "…" : whole, hex ? "hex" : "");
  pre.title = `${bytes} bytes`;
  const line = element("div");
  line.append(pre);
  if (text !== undefined) {
    const tree = button("Tree", () => {
      put("text", text);
      changed(["tree"]);
      at("text").scrollIntoView({ block: "nearest" });
    });
    tree.title = "Parse this input below";
    tree.setAttribute("aria-label", `Tree of input ${number}`);
    line.append(tree);
  }
  const item = element("li");
  item.append(line);
  return item;
}

const show = {
  lists({ error, shipped: grammars = [], notations = [] }) {
    if (error) return fail(error);
    for (const grammar of grammars) {
      shipped.set(grammar.name, grammar.text);
      const option = element("option", grammar.name);
      option.value = grammar.name;
      option.title = grammar.description;
      at("shipped").append(option);
    }
    for (const name of notations) at("notation").append(element("option", name));
    isReady = true;
    at("controls").disabled = false;
    restore(fragment());
  },
  grammar({ error, notation, usable, diagnostics = [], more = 0 }) {
    const errors = diagnostics.filter((one) => one.error).length;
    const found = [...counted(errors, "error"), ...counted(diagnostics.length - errors, "warning")].join(", ");
    say("state", error ?? `Read as ${notation}: ${found || "no errors"}.`, error || !usable ? "bad" : "good");
    const items = diagnostics.map(described);
    if (more > 0) items.push(element("li", `and ${more} more`));
    at("diagnostics").replaceChildren(...items);
    // Without a grammar there is nothing to wait for.
    if (error || !usable) {
      waiting = waiting.filter((request) => request.task === "drawing");
      at("inputs").replaceChildren();
      at("tree").hidden = true;
      say("inputs-note", error ? "There are no inputs." : "There are no inputs: the grammar has errors.");
      say("text-note", "");
    }
  },
  inputs({ error, inputs = [], note = "" }) {
    say("inputs-note", error ?? note, error ? "bad" : "");
    at("inputs").replaceChildren(...inputs.map((one, index) => input(one, index + 1)));
    // Boxes that scroll can be reached by keys.
    for (const pre of at("inputs").querySelectorAll("pre")) if (pre.scrollHeight > pre.clientHeight) pre.tabIndex = 0;
  },
  tree({ error, refused, place: where, tree }) {
    at("tree").hidden = !tree;
    const isEmpty = textOf("text") === "";
    const name = isEmpty ? "The empty text" : "The text";
    if (error) {
      say("text-note", error, "bad");
    } else if (tree) {
      say("text-note", `${name} conforms to the grammar.`, isEmpty ? "" : "good");
      const height = Number(/ height="(\d+)"/.exec(tree)?.[1] ?? 0);
      at("tree").style.height = `${Math.min(height + 4, 500)}px`;
      frame("tree", tree, "image/svg+xml");
    } else if (isEmpty) {
      say("text-note", "The empty text does not conform to the grammar.");
    } else {
      say("text-note", `${where ? `${place(where)}: ` : ""}${refused}`, "bad");
    }
  },
  drawing({ error, large, page }) {
    const note = large && `${large}. The page does not answer while the browser lays it out.`;
    say("drawing-note", error ?? note ?? "", error ? "bad" : "");
    at("draw").hidden = !large;
    at("drawing").hidden = !page;
    if (page) frame("drawing", page, "text/html");
  },
};

// Shows a file in a frame, in which no scripts run. It replaces the last one, so that the browser's history has none of
// them.
function frame(id, text, type) {
  const old = at(id).dataset.url;
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  at(id).dataset.url = url;
  loading.add(id);
  at(id).onload = () => {
    loading.delete(id);
    settle();
  };
  at(id).contentWindow.location.replace(url);
  if (old) URL.revokeObjectURL(old);
}

function select({ start, end }) {
  at("grammar").focus();
  at("grammar").setSelectionRange(start, Math.max(end, start + 1));
}

// The state of the page is in the fragment of its address: a shipped grammar by name, another one as text.
const FIELDS = ["shipped", "grammar", "notation", "seed", "count", "text"];

// Writes the state into the address. Returns true if it is there.
function save() {
  const state = new URLSearchParams();
  const name = at("shipped").value;
  if (name && shipped.get(name) === textOf("grammar")) state.set("shipped", name);
  else state.set("grammar", textOf("grammar"));
  for (const id of ["notation", "seed", "count"]) if (at(id).value) state.set(id, at(id).value);
  if (textOf("text")) state.set("text", textOf("text"));
  const link = `#${state}`;
  const isLong = link.length > LONGEST_LINK;
  say("link-note", isLong ? "The grammar and the text are too long for a link." : "");
  try {
    history.replaceState(null, "", isLong ? location.pathname + location.search : link);
  } catch (error) {
    say("link-note", `The address of this page is not up to date: ${error.message}`, "bad");
    return false;
  }
  return !isLong;
}

// Returns the fields that the address has, and what is wrong with others. Names that are unknown are left out.
function fragment() {
  const [fields, problems] = [new Map(), []];
  for (const part of location.hash.slice(1).split("&")) {
    const [name, ...values] = part.split("=");
    if (!FIELDS.includes(name)) continue;
    try {
      fields.set(name, decodeURIComponent(values.join("=").replaceAll("+", " ")));
    } catch {
      problems.push(`its field ${name} is damaged`);
    }
  }
  return { fields, problems };
}

// Returns the field of a number, or its default.
function numberIn({ fields, problems }, id, otherwise) {
  const text = fields.get(id) ?? otherwise;
  const isGood = /^\d+$/.test(text) && Number(text) >= Number(at(id).min) && Number(text) <= Number(at(id).max);
  if (!isGood) problems.push(`its ${id} is no number from ${at(id).min} to ${at(id).max}`);
  return isGood ? text : otherwise;
}

function restore(link) {
  const { fields, problems } = link;
  const name = fields.get("shipped");
  if (name !== undefined && !shipped.has(name)) problems.push(`no grammar is called ${name}`);
  at("shipped").value = shipped.has(name) ? name : "";
  put("grammar", shipped.get(name) ?? fields.get("grammar") ?? FIRST);
  at("notation").value = fields.get("notation") ?? "";
  if (at("notation").selectedIndex < 0) {
    problems.push(`no notation is called ${fields.get("notation")}`);
    at("notation").value = "";
  }
  at("seed").value = numberIn(link, "seed", "0");
  at("count").value = numberIn(link, "count", "10");
  put("text", fields.get("text") ?? "");
  say("link-note", problems.length > 0 ? `The link is wrong: ${problems.join("; ")}.` : "", "bad");
  isWhole = false;
  change += 1;
  ask(TASKS);
}

// Asks when nothing has been typed for a moment.
function changed(tasks) {
  if (!isReady) return;
  change += 1;
  tasks.forEach((task) => touched.add(task));
  clearTimeout(timer);
  timer = setTimeout(() => {
    const asked = TASKS.filter((task) => touched.has(task));
    touched = new Set();
    timer = 0;
    ask(asked);
    save();
  }, PAUSE);
  settle();
}

function grammarChanged() {
  isWhole = false;
  changed(TASKS);
}

at("grammar").oninput = () => {
  at("shipped").value = "";
  grammarChanged();
};
at("notation").onchange = grammarChanged;
at("shipped").onchange = () => {
  const text = shipped.get(at("shipped").value);
  if (text === undefined) return;
  put("grammar", text);
  at("grammar").scrollTop = 0;
  at("notation").value = "ebnf";
  put("text", "");
  grammarChanged();
};
for (const id of ["seed", "count"]) {
  at(id).oninput = () => changed(["inputs"]);
  at(id).onchange = () => {
    at(id).value = numberOf(id);
    changed(["inputs"]);
  };
}
at("text").oninput = () => changed(["tree"]);
at("next").onclick = () => {
  at("seed").value = numberOf("seed") + 1;
  at("seed").value = numberOf("seed");
  changed(["inputs"]);
};
at("draw").onclick = () => {
  isWhole = true;
  changed(["drawing"]);
};
at("share").onclick = async () => {
  const said = "Copy the link";
  try {
    const isSaved = save();
    if (isSaved) await navigator.clipboard.writeText(location.href);
    at("share").textContent = isSaved ? "Copied" : "Too long for a link";
  } catch {
    at("share").textContent = "Copy it from the address bar";
  }
  setTimeout(() => (at("share").textContent = said), 2000);
};
addEventListener("hashchange", () => {
  const link = fragment();
  if (isReady && link.fields.size + link.problems.length > 0) restore(link);
});
// A tree is as wide as its frame.
let width = innerWidth;
addEventListener("resize", () => {
  if (isReady && innerWidth !== width && !at("tree").hidden) changed(["tree"]);
  width = innerWidth;
});

// Returns the program. Some servers unpack files of this extension by themselves.
async function program() {
  const response = await fetch("gramjet.wasm.gz");
  if (!response.ok) throw new Error(`gramjet.wasm.gz: ${response.status}`);
  const bytes = await response.arrayBuffer();
  if (bytes.byteLength < 2 || new DataView(bytes).getUint16(0) !== 0x1f8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function start() {
  if (location.protocol === "file:") {
    say("state", "Browsers do not load this page from a file. Serve its folder: python3 -m http.server", "bad");
    return;
  }
  try {
    module = await WebAssembly.compile(await program());
    begin();
    waiting = [{ task: "lists" }];
    next();
  } catch (error) {
    fail(error.message);
  }
}
start();
