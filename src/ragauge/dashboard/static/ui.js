// The pages work without this module. It adds keys, live parts and copying.
"use strict";

const KEYS = {
  "/": "search", j: "next row or part", k: "row or part before", n: "next page or example", p: "previous page or example", "?": "these keys",
};

// ---- keys ----

function typing(target) {
  return target.closest("input, select, textarea, [contenteditable]") !== null;
}

const parts = [...document.querySelectorAll("form.part")];
let leaving = false; // all parts are labelled, and the next answer is on its way: no key is meant for this one

function here() {
  return parts.find((part) => part.contains(document.activeElement));
}

function step(by) {
  if (parts.length) {
    const to = parts[here() ? parts.indexOf(here()) + by : by > 0 ? 0 : parts.length - 1];
    if (to) to.querySelector("button").focus();
    return;
  }
  const rows = [...document.querySelectorAll("tbody tr th a, tbody tr th[scope=row] a")]
    .filter((link, at, all) => all.findIndex((one) => one.closest("tr") === link.closest("tr")) === at);
  const now = rows.findIndex((link) => link.closest("tr").contains(document.activeElement));
  const to = rows[now < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, now + by))];
  if (to) to.focus();
}

function follow(kind) {
  const link = document.querySelector(`a[rel=${kind}]`);
  if (link) location.assign(link.href);
}

function help() {
  let shown = document.querySelector("dialog.keys");
  if (!shown) {
    shown = document.createElement("dialog");
    shown.className = "keys";
    shown.setAttribute("aria-label", "Keys");
    const list = document.createElement("dl");
    list.className = "rows";
    for (const [key, does] of Object.entries(KEYS)) {
      for (const [name, text] of [["dt", key], ["dd", does]]) {
        list.append(Object.assign(document.createElement(name), { textContent: text }));
      }
    }
    shown.append(list);
    document.body.append(shown);
  }
  if (shown.open) shown.close();
  else shown.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const actions = {
    "/": () => { const field = document.querySelector("input[type=search], form[role=search] input"); if (field) field.focus(); },
    j: () => step(1), k: () => step(-1), n: () => follow("next"), p: () => follow("prev"), "?": help,
  };
  const part = here() || parts.find((one) => !one.querySelector("[aria-pressed=true]")) || parts[0];
  const button = part && !leaving && /^[1-9]$/.test(event.key) ? part.querySelectorAll("button")[event.key - 1] : null;
  if (button) button.click();
  else if (Object.hasOwn(actions, event.key)) actions[event.key]();
  else return;
  event.preventDefault();
});

// ---- live parts: what the server says of a run in flight stands in place of what it said before ----

async function renew(part) {
  try {
    const answer = await fetch(part.dataset.live, { headers: { accept: "text/html" } });
    if (!answer.ok) return answer.status !== 404;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const state = page.querySelector(`[data-${part.dataset.part || "state"}]`);
    if (state && state.textContent !== part.textContent) part.replaceChildren(...state.childNodes);
    return part.textContent.includes("in flight");
  } catch {
    return true; // the server may come back
  }
}

for (const part of document.querySelectorAll("[data-live]")) {
  let still = 0; // between its answers and their evaluation a run rests for a moment
  const again = async () => {
    still = document.hidden || (await renew(part)) ? 0 : still + 1;
    if (still < 10) setTimeout(again, 2000);
  };
  setTimeout(again, 2000);
}

// ---- labels: each is saved as it is given, one after another, and the page stays ----

let saving = Promise.resolve();
let waiting = 0;

async function save(part, body, before) {
  const said = part.querySelector(".saved");
  try {
    const answer = await fetch(part.action, { method: "POST", body, headers: { accept: "application/json" }, keepalive: true });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error);
    said.textContent = "saved";
    said.classList.remove("worse");
    document.querySelector("[data-labelled]").textContent = told.labelled.toLocaleString("en");
    return told.to;
  } catch (error) {
    press(part, before);
    leaving = false;
    said.textContent = `not saved: ${error.message}`;
    said.classList.add("worse");
    return "";
  }
}

function press(part, chosen) {
  for (const button of part.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === chosen));
}

function go(to) {
  const there = new URL(to, location.href);
  const same = there.pathname + there.search === location.pathname + location.search;
  location.assign(there);
  if (same) location.reload(); // all is labelled, which this page is to say
}

function labelled() {
  return parts.every((one) => one.querySelector("[aria-pressed=true]"));
}

for (const part of parts) {
  part.addEventListener("submit", (event) => {
    event.preventDefault();
    const before = part.querySelector("[aria-pressed=true]");
    const body = new URLSearchParams(new FormData(part));
    body.set("value", event.submitter.value);
    press(part, event.submitter);
    part.querySelector(".saved").textContent = "…";
    leaving = labelled();
    const after = parts[parts.indexOf(part) + 1];
    if (after) after.querySelector("button").focus();
    waiting += 1;
    saving = saving.then(() => save(part, body, before)).then((to) => {
      waiting -= 1;
      if (to && !waiting && labelled()) go(to);
    });
  });
}
const target = document.querySelector("form.part:target button");
if (target) target.focus();

// ---- copying of commands ----

if (navigator.clipboard) {
  for (const block of document.querySelectorAll("main pre")) {
    const text = block.textContent;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "copy" });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text.trim());
      button.textContent = "copied";
    });
    block.prepend(button);
  }
}
