"use strict";
// new.js shows what the debate costs while its form is filled in, and takes files that are dropped. The form works without it.

const form = document.getElementById("begin");
const costs = document.getElementById("costs");
const files = document.getElementById("files");
const drop = document.getElementById("drop");
const dropped = document.getElementById("dropped");

// maxSent limits what is sent for the costs, in bytes. Larger documents count when the button is pressed.
const maxSent = 2 << 20;

// content returns the form without files that are too large to be sent again and again.
function content() {
  const data = new FormData(form);
  let size = 0;
  for (const file of files.files) size += file.size;
  if (size > maxSent) data.delete("files");
  data.set("do", "check");
  return data;
}

// words returns costs as the page shows them.
function words(c) {
  if (!c) return "";
  let text = c.calls + " calls";
  if (c.likely === "nothing") text += ", costs nothing";
  else if (c.likely) text += ", likely " + c.likely + ", at most " + c.worst;
  return text + "." + (c.note ? " " + c.note : "");
}

let asking = null; // aborts the question that is under way

async function ask() {
  asking?.abort();
  if (!form.elements.namedItem("topic").value.trim()) {
    costs.textContent = "";
    return;
  }
  const mine = (asking = new AbortController());
  try {
    const reply = await fetch(form.getAttribute("action"), { method: "POST", body: content(), headers: { Accept: "application/json" }, signal: mine.signal });
    if (!reply.ok) throw new Error(reply.statusText);
    const answer = await reply.json();
    const wrong = Object.values(answer.mistakes || {}).flat();
    const text = answer.costs ? words(answer.costs) : wrong.length ? "Not yet complete: " + wrong[0] : "";
    if (costs.textContent !== text) costs.textContent = text;
  } catch (err) {
    if (err.name !== "AbortError") costs.textContent = "The cost cannot be worked out at the moment.";
  }
}

let timer = null;
function later() {
  clearTimeout(timer);
  timer = setTimeout(ask, 300);
}

form.addEventListener("input", later);
form.addEventListener("change", later);
if (form.elements.namedItem("topic").value.trim()) ask();

// say tells which files the form has.
function say() {
  const names = [...files.files].map((f) => f.name);
  dropped.textContent = names.length ? "Chosen: " + names.join(", ") : "";
}
files.addEventListener("change", say);

drop.addEventListener("dragover", (e) => {
  e.preventDefault();
  drop.classList.add("over");
});
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", (e) => {
  e.preventDefault();
  drop.classList.remove("over");
  const all = new DataTransfer();
  for (const file of [...files.files, ...e.dataTransfer.files]) all.items.add(file);
  files.files = all.files;
  say();
  later();
});

// A debate that has begun is begun once.
form.addEventListener("submit", (e) => {
  if (e.submitter?.value !== "begin") return;
  if (form.dataset.sent) return e.preventDefault();
  form.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => delete form.dataset.sent);
