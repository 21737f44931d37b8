"use strict";
// app.js fetches the page again after an event, and takes over what has changed. It writes only replies that still stream.

const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// served holds the elements as the server has sent them.
const served = new Map();
all("[data-live]").forEach(remember);

function remember(el) {
  served.set(el.id, el.outerHTML);
  for (const child of el.children) if (child.id) served.set(child.id, child.outerHTML);
}

// takeOver updates what has changed, and keeps what the visitor types.
function takeOver(page) {
  for (const next of all("[data-live]", page)) {
    const old = document.getElementById(next.id);
    if (!old) continue;
    if (next.dataset.live === "replace") replace(old, next);
    if (next.dataset.live === "set" || next.dataset.live === "log") merge(old, next, next.dataset.live === "set");
  }
}

function replace(old, next) {
  if (served.get(next.id) === next.outerHTML) return;
  served.set(next.id, next.outerHTML);
  const focus = old.contains(document.activeElement) && place(document.activeElement);
  const open = all("details", old).map((d) => d.open);
  const node = document.importNode(next, true);
  all("details", node).forEach((d, i) => (d.open = open[i] || d.open));
  old.replaceWith(node);
  if (focus) find(focus, node)?.focus();
}

// place returns a selector for an element that survives a replacement.
function place(el) {
  if (el.id) return "#" + CSS.escape(el.id);
  if (el.dataset.control) return `[data-control="${el.dataset.control}"]`;
  return el.getAttribute("href") ? `[href="${CSS.escape(el.getAttribute("href"))}"]` : el.tagName;
}

// merge adds new children, by their ids, and removes those that are gone if drop is true.
function merge(old, next, drop) {
  if (old.dataset.run !== next.dataset.run) return replace(old, next); // a reset has begun a new run
  const ids = new Set([...next.children].map((c) => c.id));
  if (drop) for (const c of [...old.children]) if (!ids.has(c.id)) c.remove();
  let after = null;
  for (const c of next.children) {
    const mine = document.getElementById(c.id);
    if (mine && old.contains(mine)) {
      after = mine;
      continue;
    }
    const node = document.importNode(c, true);
    if (after) after.after(node);
    else if (drop) old.prepend(node);
    else old.append(node);
    after = node;
  }
}

let running = null; // the fetch of the page that is under way
let next = null; // the one after it

// refresh fetches the page, and not twice at the same time.
function refresh() {
  if (!running) return (running = load().finally(() => (running = null)));
  return (next ??= running.then(() => {
    next = null;
    return refresh();
  }));
}

async function load() {
  try {
    const reply = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!reply.ok) return say(reply.status === 404 ? "This debate was deleted." : "The page cannot be loaded. Reload it.");
    takeOver(new DOMParser().parseFromString(await reply.text(), "text/html"));
  } catch {
    say("The server cannot be reached.");
  }
}

const say = (text) => {
  const line = find("#connection");
  if (line && line.textContent !== text) line.textContent = text;
};

// follow follows the events after those that the page shows. The browser reconnects by itself. lost says that the page may
// have missed events.
let source = null;
function follow(lost = false) {
  const address = find("#turns")?.dataset.events;
  const now = find("#now");
  if (!address || source || ["completed", "canceled"].includes(now.dataset.state)) return;
  const url = new URL(address, location.href);
  url.searchParams.set("after", now.dataset.seq);
  const stream = (source = new EventSource(url));
  stream.onopen = () => {
    find("#live").replaceChildren();
    say(lost ? "Connected again." : "Live.");
    if (lost) refresh();
    lost = false;
  };
  stream.onerror = () => {
    lost = true;
    say(stream.readyState === EventSource.CLOSED ? "Not connected. Reload the page." : "Connection lost. It is being restored.");
  };
  const on = (type, f) => stream.addEventListener(type, (e) => f(JSON.parse(e.data)));
  on("turn_started", (e) => begin(e));
  on("chunk", (e) => add(e));
  on("tools", (e) => calls(e));
  on("turn_failed", (e) => failed(e));
  on("turn", (e) => refresh().then(() => drop(e.turn)));
  on("dropped", (e) => discard((a) => a.dataset.actor === e.name));
  on("state", (e) => discard(() => idle.includes(e.to)));
  for (const type of ["config", "state", "phase", "asked", "decided", "dropped", "annotated"]) on(type, () => refresh());
  on("problem", (e) => end(e.title));
  on("ended", () => end("The debate has ended.").then(() => discard(() => true)));
}

// No reply streams in these states.
const idle = ["configuring", "ready", "error", "completed", "canceled"];

// discard removes replies that will not become turns.
const discard = (match) => all("#live article").filter(match).forEach((a) => a.remove());

async function end(text) {
  source?.close();
  source = null;
  await refresh();
  say(text);
}

function speaking() {
  const names = all("#live article:not(.failed)").map((a) => a.dataset.actor);
  find("#speaking").textContent = names.length ? names.join(", ") + (names.length > 1 ? " are" : " is") + " replying." : "";
}
if (find("#live")) new MutationObserver(speaking).observe(find("#live"), { childList: true });

const keyOf = (k) => [k.run, k.round, k.phase, k.actor, k.target || ""].join("/");
const liveOf = (k) => document.getElementById("live-" + keyOf(k));

// begin shows that an actor begins to reply, in place of an earlier attempt.
function begin(e) {
  liveOf(e.key)?.remove();
  const turn = document.createElement("article");
  const actor = all("#actors [data-actor]").find((a) => a.dataset.actor === e.key.actor);
  turn.className = "turn live " + (actor ? actor.className + " " + actor.dataset.place : "other wide");
  turn.id = "live-" + keyOf(e.key);
  turn.dataset.key = keyOf(e.key);
  turn.dataset.actor = e.key.actor;
  const head = turn.appendChild(document.createElement("header"));
  if (actor) head.append(find(".who", actor).cloneNode(true), " ");
  const who = head.appendChild(document.createElement("b"));
  who.textContent = e.key.actor;
  who.dir = "auto";
  const what = head.appendChild(document.createElement("span"));
  what.className = "meta";
  const attempt = e.number - (rounds[turn.dataset.key] || 0);
  what.textContent = " is replying" + (attempt > 1 ? ", attempt " + attempt : "") + " …";
  const text = turn.appendChild(document.createElement("div"));
  text.className = "text plain";
  text.dir = "auto";
  text.append("");
  find("#live").append(turn);
  return turn;
}

// A round of calls of tools is no attempt.
const rounds = {};
function calls(e) {
  const turn = liveOf(e.key) || begin(e);
  if (e.attempts) rounds[turn.dataset.key] = (rounds[turn.dataset.key] || 0) + 1;
  find(".meta", turn).textContent = " calls " + [...new Set(e.calls.map((c) => c.name))].join(", ") + " …";
}

// add adds a piece of a reply. A judge's reply is JSON, of which only the length is shown.
function add(e) {
  const turn = liveOf(e.key) || begin(e);
  const text = find(".text", turn).firstChild;
  if (e.kind === "assessment" || e.kind === "conclusion") {
    turn.dataset.size = (Number(turn.dataset.size) || 0) + e.text.length;
    text.data = turn.dataset.size + " characters so far";
    return;
  }
  if (e.offset === 0) text.data = "";
  text.appendData(e.text);
}

function failed(e) {
  const turn = liveOf(e.key);
  if (!turn) return;
  turn.classList.add("failed");
  speaking();
  const wait = e.retry_in > 0 ? " The next follows in " + Math.round(e.retry_in / 1e9) + " s." : "";
  const why = " failed: " + e.error.replaceAll("_", " ") + "." + wait;
  find(".meta", turn).textContent = e.doubtful ? " contradicts itself; asked once more." : why;
}

const drop = (turn) => liveOf(turn)?.remove();

// send sends a form, and shows what is wrong with it.
async function send(form, button) {
  const refused = button?.getAttribute("aria-disabled") === "true";
  const errors = find(".errors", form) || find("#connection");
  if (refused) return tell(errors, [document.getElementById(button.getAttribute("aria-describedby")).textContent]);
  errors.replaceChildren();
  all("[aria-invalid]", form).forEach((el) => el.removeAttribute("aria-invalid"));
  let reply; // a field of the form may be called action, so form.action may be that field
  try {
    reply = await fetch(form.getAttribute("action"), { method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams(new FormData(form)) });
  } catch {
    return tell(errors, ["The server cannot be reached."]);
  }
  if (!reply.ok) {
    const problem = await reply.json().catch(() => ({ title: "The server failed" }));
    const list = (problem.problems || []).map((p) => (p.field ? p.field + ": " : "") + p.reason);
    return tell(errors, list.length ? list : [problem.detail || problem.title]);
  }
  if (form.dataset.form === "remarks" || form.dataset.form === "annotations") form.reset();
  await refresh();
  say("Done.");
  if (!form.isConnected) find("#turns").focus();
  follow(); // a refused start ends the stream
}

function tell(box, lines) {
  box.replaceChildren(...lines.map((line) => Object.assign(document.createElement("p"), { textContent: line })));
}

document.addEventListener("submit", (e) => {
  if (e.target.method !== "post" || !e.target.dataset.form) return;
  e.preventDefault();
  send(e.target, e.submitter);
});

// Browsers allow few connections to a server.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) return follow(true);
  source?.close();
  source = null;
});

follow();
const poll = Number(find("[data-poll]")?.dataset.poll);
if (poll) setInterval(() => document.hidden || refresh(), poll * 1000);
