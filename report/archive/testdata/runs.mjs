// Runs a program several times, each time in a thread of its own, because Node takes longer to start than a check takes:
// node runs.mjs PROGRAM. The input is the arguments of each run, as JSON. It prints the exit code and the outputs of each.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";

async function run(args) {
  const thread = new Worker(resolve(process.argv[2]), { argv: args, stdout: true, stderr: true });
  let failure = "";
  thread.on("error", (err) => (failure = String(err.stack)));
  const ended = new Promise((done) => thread.on("exit", done));
  const [code, said, errs] = await Promise.all([ended, text(thread.stdout), text(thread.stderr)]);
  return { code, said, errs: errs + failure };
}

const list = [];
for (const args of JSON.parse(readFileSync(0))) list.push(await run(args));
console.log(JSON.stringify(list));
