"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const place = "ragauge-labels-" + data.page;
let kept = {};
try { kept = JSON.parse(localStorage.getItem(place)) || {}; } catch (error) { kept = {}; }
const said = kept.said || {};
let at = Math.min(kept.at || 0, Math.max(0, data.tasks.length - 1)), part = 0;
const name = find("annotator");
name.value = data.annotator || kept.name || "";
name.readOnly = Boolean(data.annotator);
find("instructions").textContent = data.instructions;
find("how").open = !Object.keys(said).length;
const total = data.tasks.reduce((sum, task) => sum + task.parts.length, 0);
const which = (n, m) => n + "." + m;
const scored = data.question.startsWith("score:");
const words_of = Object.fromEntries(data.values);
const named = (value) => scored ? words_of[value] : value.replaceAll("_", " ");

function keep() {
  try { localStorage.setItem(place, JSON.stringify({ said, at, name: name.value })); }
  catch (error) { find("progress").dataset.lost = "1"; }
}
function node(tag, text, parent) {
  const made = document.createElement(tag);
  made.textContent = text;
  parent.append(made);
  return made;
}
function mark(element, n) {
  element.classList.add("part");
  if (n === part) { element.classList.add("here"); element.setAttribute("aria-current", "true"); }
  const label = said[which(at, n)];
  if (label) element.dataset.said = named(label.value);
  element.addEventListener("click", () => { part = n; show(); });
}
function show() {
  const task = data.tasks[at];
  if (!task) { find("progress").textContent = "nothing to label"; return; }
  find("query").textContent = task.query;
  const passages = find("passages"), answer = find("answer"), references = find("references");
  passages.replaceChildren();
  references.replaceChildren();
  (task.references || []).forEach((text) => node("li", text, references));
  find("history").replaceChildren();
  (task.history || []).forEach((text) => node("li", text, find("history")));
  find("earlier").hidden = !task.history;
  find("accepted").hidden = !references.childElementCount;
  find("retrieved").hidden = !task.passages.length;
  answer.replaceChildren();
  task.passages.forEach((text, n) => {
    const item = node("li", text, passages);
    const place_of = task.parts.indexOf(n + 1);
    if (place_of >= 0) mark(item, place_of);
  });
  const characters = Array.from(task.answer);
  const slice = (start, end) => characters.slice(start, end).join("");
  let done = 0;
  task.parts.forEach((one, n) => {
    if (one === null) { mark(node("span", task.answer, answer), n); done = characters.length; return; }
    if (!Array.isArray(one)) return;
    answer.append(slice(done, one[0]));
    mark(node("span", slice(one[0], one[1]), answer), n);
    done = one[1];
  });
  answer.append(slice(done));
  const choices = find("choices");
  choices.replaceChildren();
  data.values.forEach(([value, words], n) => {
    const shown = scored ? words + " (" + value + ")" : named(value) + ": " + words;
    const button = node("button", (n + 1) + "  " + shown, choices);
    button.type = "button";
    const label = said[which(at, part)];
    button.setAttribute("aria-pressed", String(Boolean(label) && label.value === value));
    button.addEventListener("click", () => say(value));
  });
  const lost = find("progress").dataset.lost ? "; this browser keeps nothing, so save before you close" : "";
  find("progress").textContent =
    "answer " + (at + 1) + " of " + data.tasks.length + ", " + Object.keys(said).length + " of " + total + " labeled" + lost;
  const here = document.querySelector(".here");
  if (here) here.scrollIntoView({ block: "nearest" });
  keep();
}
function step(by) {
  const parts = data.tasks[at].parts.length;
  if (part + by >= 0 && part + by < parts) part += by;
  else if (data.tasks[at + by]) { at += by; part = by > 0 ? 0 : data.tasks[at].parts.length - 1; }
  show();
}
function jump(by) { if (data.tasks[at + by]) { at += by; part = 0; } show(); }
function say(value) {
  said[which(at, part)] = { value, at: new Date().toISOString() };
  step(1);
}
function save() {
  const lines = [];
  data.tasks.forEach((task, n) => task.parts.forEach((one, m) => {
    const label = said[which(n, m)];
    if (label) lines.push(JSON.stringify({
      key: task.key, part: one, question: data.question, value: label.value, annotator: name.value.trim(),
      at: label.at, guideline: data.guideline }));
  }));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.map((line) => line + "\n").join("")], { type: "application/jsonl" }));
  link.download = "labels.jsonl";
  link.click();
}
const moves = { ArrowDown: () => step(1), ArrowUp: () => step(-1), ArrowRight: () => jump(1), ArrowLeft: () => jump(-1), s: save };
document.addEventListener("keydown", (event) => {
  if (event.target === name || event.ctrlKey || event.metaKey || event.altKey || !data.tasks.length) return;
  const number = Number(event.key);
  if (event.key === "0") { delete said[which(at, part)]; show(); }
  else if (number >= 1 && number <= data.values.length) say(data.values[number - 1][0]);
  else if (moves[event.key]) moves[event.key]();
  else return;
  event.preventDefault();
});
name.addEventListener("input", keep);
find("save").addEventListener("click", save);
show();
