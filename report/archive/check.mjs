// Checks a record of a debate without the library: node check.mjs FILE [PUBLIC-KEY ...]
//
// It checks the hash chain, the signatures, that each transition is one of the lifecycle and follows the one before it, the
// flags of turns, and, of the protocol panel, the winner and the scores of the jury. It derives nothing else: use
// "debate verify" for that. It prints what it has found as JSON, and exits with 1 if something is wrong.
import { createHash, createHmac, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";

class Wrong extends Error {}

const base64url = (bytes) => Buffer.from(bytes).toString("base64url");
const sha256 = (...parts) => parts.reduce((h, p) => h.update(p), createHash("sha256")).digest();
const kind = (n) => Buffer.from([n]);

// decode returns the bytes of a text in base64url, which must be the only one for these bytes.
function decode(text, what) {
  const bytes = Buffer.from(text, "base64url");
  if (base64url(bytes) !== text) throw new Wrong(`${what} is not base64url`);
  return bytes;
}

// The formulas of docs/record.md.
const leafOf = (salt, payload) => sha256(kind(0), salt, payload);
const next = (head, leaf) => sha256(kind(1), head, leaf);
const start = (id) => sha256(kind(2), "debate record 1\n", id);
const digestOf = (salt, value) => base64url(sha256(kind(3), salt, value));
const saltOf = (secret, name) => createHmac("sha256", secret).update(name).digest().subarray(0, 16);

// cut returns what follows a word on a line.
function cut(line, word) {
  if (line === undefined || !line.startsWith(word + " ")) throw new Wrong(`want a line that begins with ${word}`);
  return line.slice(word.length + 1);
}

// read reads a record, and checks its hashes.
function read(bytes) {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  if (!text.endsWith("\n")) throw new Wrong("the last line is cut off");
  const lines = text.slice(0, -1).split("\n");
  const header = JSON.parse(lines.shift());
  if (header.record !== 1) throw new Wrong("it is not a record of version 1");
  const secret = header.secret ? decode(header.secret, "the secret") : undefined;
  const record = { header, entries: [], heads: [start(header.id)], notes: [] };
  for (let seq = 1; seq <= header.entries; seq++) {
    record.seq = seq;
    readEntry(record, seq, secret, lines);
    if (lines[0]?.startsWith("parent ")) lines.shift();
  }
  record.seq = header.entries + 1;
  const head = record.heads.at(-1);
  if (cut(lines.shift(), "head") !== `${header.entries} ${base64url(head)}`) throw new Wrong("the head is another one");
  while (lines[0]?.startsWith("note ")) record.notes.push({ text: JSON.parse(cut(lines.shift(), "note")) });
  const sum = cut(lines.shift(), "sum");
  if (lines.length > 0) throw new Wrong("something follows the last line");
  const end = bytes.lastIndexOf("\n", bytes.length - 2) + 1;
  if (sum !== base64url(sha256(bytes.subarray(0, end)))) throw new Wrong("the sum is another one");
  return record;
}

// readEntry reads an entry with its texts.
function readEntry(record, seq, secret, lines) {
  const [, number, leaf, salt, payload] = /^(\S+) (\S+) (\S+) (.*)$/s.exec(cut(lines.shift(), "entry")) ?? [];
  if (number !== String(seq)) throw new Wrong("it has another number");
  const bytes = decode(salt, "the salt");
  const is = leafOf(bytes, payload);
  if (base64url(is) !== leaf) throw new Wrong("its leaf is not the hash of its payload");
  if (secret && !bytes.equals(saltOf(secret, String(seq)))) throw new Wrong("its salt is not that of the secret");
  const texts = new Map();
  while (lines[0]?.startsWith("text ")) {
    const [, textSalt, value] = /^(\S+) (.*)$/s.exec(cut(lines.shift(), "text")) ?? [];
    const own = decode(textSalt ?? "", "the salt of a text");
    if (secret && !own.equals(saltOf(secret, `${seq}/${texts.size + 1}`))) throw new Wrong("the salt of a text is not that of the secret");
    texts.set(digestOf(own, value), JSON.parse(value));
  }
  const used = new Set();
  const entry = show(JSON.parse(payload), texts, used, secret);
  if (used.size !== texts.size) throw new Wrong("it has a text that no digest stands for");
  record.entries.push(entry);
  record.heads.push(next(record.heads.at(-1), is));
}

// show puts texts in place of their digests, and null in place of those that are hidden.
function show(value, texts, used, secret) {
  if (Array.isArray(value)) return value.map((v) => show(v, texts, used, secret));
  if (value === null || typeof value !== "object") return value;
  const digest = value["..."];
  if (digest !== undefined && Object.keys(value).length === 1) {
    if (texts.has(digest)) used.add(digest);
    else if (secret) throw new Wrong("a text is missing, but the record is not redacted");
    return texts.get(digest) ?? null;
  }
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, show(v, texts, used, secret)]));
}

// keyOf reads a public key such as name+1a2b3c4d+base64.
function keyOf(text) {
  const [name, hash, key] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text.trim())?.slice(1) ?? [];
  const bytes = Buffer.from(key ?? "", "base64");
  if (bytes.length !== 33 || bytes[0] !== 1) throw new Wrong(`${text} is not a public key`);
  const jwk = { kty: "OKP", crv: "Ed25519", x: base64url(bytes.subarray(1)) };
  return { name, hash, key: createPublicKey({ key: jwk, format: "jwk" }) };
}

// checkNote checks a signed note. It returns how many entries a known key has signed, or 0.
function checkNote(record, { text, entry }, keys) {
  const split = text.indexOf("\n\n");
  const [signed, lines] = [text.slice(0, split + 1), text.slice(split + 2).trimEnd().split("\n")];
  const [version, id, count, head] = signed.split("\n");
  const n = Number(count);
  if (split < 0 || version !== "debate record 1" || String(n) !== count) throw new Wrong("a note is not that of a record");
  if (id !== record.header.id) throw new Wrong("a note signs another debate");
  if (n >= (entry ?? record.heads.length)) throw new Wrong("a note signs more entries than there are");
  if (base64url(record.heads[n]) !== head) throw new Wrong("a note signs another head");
  let known = 0;
  for (const line of lines) {
    const [, name, value] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = Buffer.from(value ?? "", "base64");
    for (const k of keys) {
      if (k.name !== name || k.hash !== bytes.subarray(0, 4).toString("hex")) continue;
      if (!verify(null, Buffer.from(signed), k.key, bytes.subarray(4))) throw new Wrong(`the signature of ${name} is not valid`);
      known = n;
    }
  }
  return known;
}

// signedBy returns how many entries known keys have signed. Entries that hold such signatures count after what they sign.
function signedBy(record, keys) {
  const held = record.entries
    .map((e, i) => ({ text: e.type === "annotated" && e.name === "signature" ? e.value : null, entry: i + 1 }))
    .filter((n) => typeof n.text === "string" && n.text.startsWith(`debate record 1\n${record.header.id}\n`));
  const holds = new Set();
  let signed = 0;
  for (const note of [...held, ...record.notes]) {
    const n = checkNote(record, note, keys);
    signed = Math.max(signed, n);
    if (n > 0 && note.entry) holds.add(note.entry);
  }
  while (holds.has(signed + 1)) signed++;
  return signed;
}

// The lifecycle: the states in which an event is possible, and those to which it leads.
const running = ["running.awaiting_responses", "running.judging", "running.round_complete"];
const active = ["validating", "initializing", ...running, "completing"];
const lifecycle = {
  edit: [["configuring", "ready"], ["configuring"]],
  validate: [["configuring"], ["validating"]],
  accept: [["validating"], ["ready"]],
  reject: [["validating"], ["configuring"]],
  start: [["ready"], ["initializing"]],
  initialized: [["initializing"], ["completing", running[0]]],
  responded: [[running[0]], [running[1], running[2]]],
  assessed: [[running[1]], ["completing", running[2]]],
  advance: [[running[2]], [running[0], "completing"]],
  pause: [active, ["paused"]],
  resume: [["paused"], active],
  stop: [["validating", "initializing", ...running, "paused"], ["completing"]],
  concluded: [["completing"], ["completed"]],
  fail: [["initializing", ...running, "completing"], ["error"]],
  retry: [["error"], ["ready"]],
  reset: [["error"], ["configuring"]],
  cancel: [["configuring", "ready", ...active, "paused", "error"], ["canceled"]],
};

const flags = ["truncated", "defaulted", "reasked", "repaired", "partial", "substituted", "filtered", "edited", "special_token", "refused", "spoke_for_others"];

// walk checks the order of the entries. It returns the state, the outcome, and the turns of the last run.
function walk(record) {
  let [state, before, outcome, run, turns, dropped] = ["configuring", "", "", 1, [], new Set()];
  record.entries.forEach((e, i) => {
    record.seq = i + 1;
    if (e.seq !== i + 1) throw new Wrong(`its seq is ${e.seq}`);
    if (e.type === "dropped") dropped.add(e.name);
    if (e.type === "turn") {
      const t = e.turn;
      if (t.seq !== e.seq || t.run !== run) throw new Wrong("its turn has another seq or run");
      for (const f of t.flags ?? []) if (!flags.includes(f)) throw new Wrong(`the flag ${f} is unknown`);
      if (new Set(t.flags).size !== (t.flags ?? []).length) throw new Wrong("a flag is there twice");
      if (turns.some((o) => ["round", "phase", "actor", "target"].every((k) => (o[k] ?? "") === (t[k] ?? "")))) throw new Wrong("its turn is there twice");
      turns.push(t);
    }
    if (e.type !== "state") return;
    const [from, to] = lifecycle[e.on] ?? [[], []];
    if (e.from !== state || !from.includes(e.from) || !to.includes(e.to)) throw new Wrong(`${e.on} does not lead from ${state} to ${e.to}`);
    if (e.on === "resume" && e.to !== before) throw new Wrong(`the debate was paused in ${before}`);
    if (e.on === "pause") before = e.from;
    if (e.ending?.outcome) outcome = e.ending.outcome;
    if (e.on === "reset") [run, turns, dropped, outcome] = [run + 1, [], new Set(), ""];
    state = e.to;
  });
  return { state, outcome, turns, dropped };
}

// average returns the mean of numbers, and mean rounds it to hundredths, unless there is one number only.
const average = (list) => list.reduce((a, b) => a + b, 0) / list.length;
const mean = (list) => (list.length === 1 ? list[0] : Math.round(100 * average(list)) / 100);

// votersOf returns the replies of judges by judge, without defaults.
function votersOf(turns) {
  const valid = turns.filter((t) => !(t.flags ?? []).includes("defaulted"));
  const voters = new Map();
  for (const t of valid) voters.set(t.actor, [...(voters.get(t.actor) ?? []), t.data]);
  return voters;
}

// decide computes the winner and the mean scores of a panel whose judges are combined by their means.
function decide(record, { turns, dropped }) {
  const verdicts = [...votersOf(turns.filter((t) => t.phase === "verdict" && t.contract === "verdict/1")).values()];
  const votes = verdicts.filter((v) => v.every((d) => (d.winner ?? "") === (v[0].winner ?? ""))).map((v) => v[0].winner ?? "");
  const winner = votes.find((w) => 2 * votes.filter((x) => x === w).length > votes.length) ?? "";
  const scores = {};
  const rounds = [...new Set(turns.map((t) => t.round))];
  for (const round of rounds) {
    const voters = [...votersOf(turns.filter((t) => t.round === round && t.contract === "assessment/1")).values()];
    const byName = new Map();
    for (const replies of voters) {
      const own = new Map();
      for (const p of replies.flatMap((d) => d.participants)) own.set(p.name, [...(own.get(p.name) ?? []), p.score ?? 0]);
      for (const [name, list] of own) byName.set(name, [...(byName.get(name) ?? []), mean(list)]);
    }
    for (const [name, list] of byName) if (!dropped.has(name)) (scores[name] ??= []).push(mean(list));
  }
  for (const name of Object.keys(scores)) scores[name] = Math.round(10 * average(scores[name])) / 10;
  return { winner, scores };
}

const [file, ...publicKeys] = process.argv.slice(2);
let record;
try {
  record = read(readFileSync(file));
  const walked = walk(record);
  record.seq = 0;
  const signed = signedBy(record, publicKeys.map(keyOf));
  const found = { id: record.header.id, entries: record.entries.length, head: base64url(record.heads.at(-1)), signed, state: walked.state, outcome: walked.outcome };
  if (record.header.protocol === "panel/1" && record.header.secret) Object.assign(found, decide(record, walked));
  console.log(JSON.stringify(found));
} catch (err) {
  if (!(err instanceof Wrong) && !(err instanceof SyntaxError) && !(err instanceof TypeError)) throw err;
  console.error(`wrong: ${err.message}`);
  process.exit(1);
}
