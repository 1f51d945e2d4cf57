"use strict";

// The page of `crowdwise review`. It asks the server for items, sends decisions, and draws what comes back. All that the
// server says about a crowd is put into the page as text, never as HTML.

const $ = (id) => document.getElementById(id);

// ---------------------------------------------------------------------------------------------------- what is known

let state = null; // the last answer of /api/state
let panel = null; // the newest panel, and when it came
let panelCame = 0;
let item = null; // the item on the screen
let ahead = null; // a promise of the next item, asked for while the reveal is read
let busy = true; // something is under way: keys and buttons do nothing
let draft = { sure: "", unclear: false, comment: "" };
let pending = null; // the decision that the server has not confirmed yet
let visible = false; // whether the votes on the item were seen before it is decided
let outside = null; // a number outside the range seen, which a second Enter decides
let watch = null; // counts the seconds that the item was looked at
let viewBefore = "item"; // where "Back" leads

// Storage can be switched off in a browser; then the page works without it.
const stored = {
  get(key) { try { return sessionStorage.getItem(`crowdwise.${key}`); } catch { return null; } },
  set(key, value) { try { sessionStorage.setItem(`crowdwise.${key}`, value); } catch { /* not kept over a reload */ } },
  drop(key) { try { sessionStorage.removeItem(`crowdwise.${key}`); } catch { /* nothing was kept */ } },
};

// crypto.randomUUID exists only where the connection counts as safe, which http to another machine does not.
function randomId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

let tab = stored.get("tab") ?? randomId();

// A browser copies the storage when a tab is duplicated. The tab that holds the lock keeps the id; a copy takes a new one.
async function ownTab() {
  if (navigator.locks) {
    const held = (id, options) => new Promise((resolve) => {
      const forever = () => { resolve(true); return new Promise(() => {}); };
      navigator.locks.request(`crowdwise.${id}`, options, forever).catch(() => resolve(false));
    });
    if (!await held(tab, { signal: AbortSignal.timeout(400) })) {
      tab = randomId();
      stored.drop("pending"); // the other tab sends it
      held(tab, {});
    }
  }
  stored.set("tab", tab);
}

// ---------------------------------------------------------------------------------------------------------- elements

function make(tag, settings = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(settings)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "text") element.textContent = value;
    else if (key === "on") element.addEventListener("click", value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

function draw(tag, settings = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(settings)) {
    if (key === "text") element.textContent = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

// A name that somebody else has chosen: isolated, so that its direction of writing ends where it ends.
function named(name, settings = {}) {
  const text = String(name ?? "");
  if (text.trim() === "") return make("bdi", { ...settings, class: "blank", text: text === "" ? "(empty)" : "(only spaces)" });
  return make("bdi", { ...settings, text });
}

function setName(element, name) {
  element.replaceChildren(named(name));
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = text === "";
}

const inWords = (name, most = 80) => {
  const text = String(name ?? "");
  if (text.trim() === "") return "(empty)";
  return text.length > most ? `${text.slice(0, most)}…` : text;
};
// The marks keep the direction of a name from spilling into the sentence.
const quoted = (name) => `“\u2068${inWords(name)}\u2069”`;
const percent = (share) => `${(100 * share).toFixed(1)}%`;
const interval = (low, high) => low === null || low === undefined ? "" : `${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}%`;
const several = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
const short = (number) => `${Number(number.toPrecision(6))}`;
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

function say(sentence, problem = false) {
  const place = $("said");
  place.classList.toggle("is-problem", problem);
  place.textContent = sentence;
}

// ------------------------------------------------------------------------------------------------------------- views

function show(view) {
  document.body.dataset.view = view;
  for (const place of document.querySelectorAll("[data-views]")) {
    place.hidden = !place.dataset.views.split(" ").includes(view);
  }
  $("open-end").hidden = !["item", "saving", "reveal", "nothing"].includes(view);
}

const view = () => document.body.dataset.view;

function focusOn(heading) {
  heading.focus({ preventScroll: true });
  heading.closest("section").scrollIntoView({ block: "nearest" });
}

// Runs one action at a time. Keys and clicks that come meanwhile do nothing; as soon as a view is drawn, they count.
async function act(work) {
  if (busy) return;
  busy = true;
  try {
    await work();
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    say(problem.message, true);
  } finally {
    busy = false;
  }
}

// -------------------------------------------------------------------------------------------------------- connection

class Refused extends Error {} // the server answered with a sentence that says why not
class Unreachable extends Error { // no answer, or none that says anything about the request: it is sent again
  constructor(sentence, stranger = false) { super(sentence); this.stranger = stranger; }
}

async function call(path, body) {
  const request = { cache: "no-store", signal: AbortSignal.timeout(20000) };
  if (body !== undefined) {
    Object.assign(request, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  }
  let answer;
  let content;
  try {
    answer = await fetch(path, request);
    content = await answer.json();
  } catch {
    throw new Unreachable("", answer !== undefined && (answer.redirected || answer.status === 401 || answer.status === 403));
  }
  if (answer.ok) return content;
  const sentence = String(content.error ?? `The server answered with status ${answer.status}.`);
  const stranger = answer.status === 401 || answer.status === 403;
  if (stranger || answer.status >= 500) throw new Unreachable(stranger ? "" : sentence, stranger);
  throw new Refused(sentence);
}

let hurry = () => {}; // ends the pause before the next attempt

function pause(milliseconds) {
  return new Promise((resolve) => { hurry = resolve; setTimeout(resolve, milliseconds); });
}

// Sends a request until the server answers it. Whatever is sent this way can be sent twice without harm; `again` tells the
// server that it may have come before.
async function insist(path, body) {
  for (let wait = 400, again = false; ; wait = Math.min(1.5 * wait, 4000), again = true) {
    try {
      const answer = await call(path, again && body ? { ...body, again } : body);
      found();
      return answer;
    } catch (problem) {
      if (!(problem instanceof Unreachable)) { found(); throw problem; }
      lost(problem);
      await pause(wait);
    }
  }
}

function restartCommand() {
  const command = state?.restart ?? "crowdwise review FILE";
  // On the same port, this page finds it again.
  return command.startsWith("cw.") || command.includes("--port") || !location.port ? command : `${command} --port ${location.port}`;
}

function lost(problem) {
  setText($("lost-heading"), problem.stranger ? "The server does not know this tab any more" : "The server does not answer");
  setText($("lost-kept"), pending
    ? `Your decision on ${quoted(pending.item)} is kept in this page: ${pending.words}. It is sent as soon as the server is back.`
    : "Nothing is lost: all your decisions are saved.");
  setText($("lost-how"), problem.stranger
    ? "It was started again. Open the address that it printed in this browser, or log in there again; then this tab goes on."
    : `${problem.message} If it has stopped, start it again in the terminal:`.trim());
  $("lost-restart").hidden = problem.stranger;
  setText($("lost-command"), restartCommand());
  $("lost").hidden = false;
}

function found() {
  if ($("lost").hidden) return;
  $("lost").hidden = true;
  say("The connection is back.");
  listen();
}

// Panels come as events. A browser keeps few connections to one server open, so that tabs in the background give theirs up.
let events = null;
let probing = false;

function listen() {
  events?.close();
  events = null;
  if (document.hidden || view() === "finished") return;
  const source = new EventSource("/api/events");
  events = source;
  let first = true;
  source.addEventListener("message", (event) => {
    let fresh = null;
    try { fresh = JSON.parse(event.data); } catch { return; }
    takePanel(fresh, first); // a server that was started again counts versions anew
    first = false;
  });
  source.addEventListener("error", () => {
    if (events !== source) return;
    source.close();
    events = null;
    probe();
  });
}

async function probe() {
  if (probing) return;
  probing = true;
  await pause(300);
  try {
    if (view() !== "finished" && !document.hidden) {
      const fresh = await insist("/api/state");
      state = fresh;
      takePanel(fresh.panel, true);
      drawPlan();
    }
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
  } finally {
    probing = false;
  }
  if (events === null) listen();
}

document.addEventListener("visibilitychange", () => {
  watch?.turn();
  if (view() === "loading") return;
  if (!document.hidden) { listen(); return; }
  events?.close();
  events = null;
});
addEventListener("online", () => hurry());
$("retry").addEventListener("click", () => hurry());
addEventListener("beforeunload", (event) => { if (pending) event.preventDefault(); });

// ------------------------------------------------------------------------------------------------------------- start

const reviewer = () => $("reviewer").value.trim();

function drawPlan() {
  setText($("plan-sentence"), state.plan.sentence);
  const phases = $("phases");
  phases.replaceChildren(...state.plan.phases.map((phase, at) => {
    const open = phase.count === null;
    const label = make("span", { id: `phase-${at}`, text: upper(phase.words) });
    const number = make("span", { class: "of", text: open ? `${phase.done}` : `${phase.done} of ${phase.count}` });
    const bar = open ? null
      : make("progress", { max: Math.max(phase.count, 1), value: Math.min(phase.done, phase.count), "aria-labelledby": `phase-${at}` });
    return make("li", {}, label, number, bar);
  }));
  drawCounts();
}

const upper = (words) => String(words).charAt(0).toUpperCase() + String(words).slice(1);

function fillPlanForm() {
  const count = (source) => state.plan.phases.filter((phase) => phase.source === source).reduce((sum, phase) => sum + (phase.count ?? 0), 0);
  $("plan-random").value = count("random");
  $("plan-settle").value = count("settle");
  $("plan-worst").checked = state.plan.phases.some((phase) => phase.source === "worst");
}

function drawStart() {
  drawPlan();
  fillPlanForm();
  setText($("start-file"), state.file);
  const done = panel?.decisions ?? 0;
  $("begin").firstChild.textContent = done || item ? "Go on " : "Begin ";
  if (done) say(`${several(done, "decision is", "decisions are")} on file already. You go on where the review stopped.`);
  show("start");
  $("start-heading").focus({ preventScroll: true });
}

function takeState(fresh) {
  state = fresh;
  takePanel(fresh.panel);
  drawClasses();
}

let planSent = Promise.resolve(true); // resolves to whether the server took the plan

function sendPlan() {
  const problem = $("start-problem");
  const numbers = ["random", "settle"].map((source) => [source, $(`plan-${source}`).value.trim() || "0"]);
  if (numbers.some(([, count]) => !/^\d{1,7}$/.test(count))) {
    problem.textContent = "Give whole numbers, 0 or more.";
    planSent = Promise.resolve(false);
    return;
  }
  const parts = numbers.filter(([, count]) => Number(count) > 0).map(([source, count]) => `${source}:${Number(count)}`);
  if ($("plan-worst").checked) parts.push("worst");
  if (parts.length === 0) {
    problem.textContent = "The plan is empty. Ask for some items.";
    planSent = Promise.resolve(false);
    return;
  }
  problem.textContent = "";
  planSent = planSent.then(async () => {
    try {
      const fresh = await insist("/api/plan", { plan: parts.join(",") });
      ahead = null;
      takeState(fresh);
      drawPlan();
      return true;
    } catch (refused) {
      if (!(refused instanceof Refused)) throw refused;
      problem.textContent = refused.message;
      return false;
    }
  });
}

for (const id of ["plan-random", "plan-settle", "plan-worst"]) $(id).addEventListener("change", sendPlan);

$("start").addEventListener("submit", (event) => {
  event.preventDefault();
  act(async () => {
    if (reviewer() === "") {
      $("start-problem").textContent = "Give your name: it is written beside your decisions.";
      $("reviewer").focus();
      return;
    }
    if (!await planSent) return;
    stored.set("reviewer", reviewer());
    stored.set("begun", "yes");
    setName($("who-name"), reviewer());
    $("who").hidden = false;
    await goOn();
  });
});

// -------------------------------------------------------------------------------------------------------------- item

async function goOn() {
  let answer = await ahead;
  ahead = null;
  answer ??= await insist("/api/next", { tab, reviewer: reviewer() });
  if (answer.item) drawItem(answer.item);
  else drawNothing(answer.why ?? "");
}

function drawNothing(why) {
  item = null;
  setText($("nothing-why"), why);
  show("nothing");
  focusOn($("nothing-heading"));
}

function fetchAhead() {
  ahead = call("/api/next", { tab, reviewer: reviewer() }).then((answer) => {
    for (const field of answer.item?.fields ?? []) if (field.kind === "image") new Image().src = field.address;
    return answer;
  }, () => null); // goOn asks again, and says what is wrong
}

// Seconds for which the item was on the screen.
function stopwatch() {
  let seconds = 0;
  let since = document.hidden ? null : performance.now();
  const read = () => seconds + (since === null ? 0 : (performance.now() - since) / 1000);
  const turn = () => { seconds = read(); since = document.hidden ? null : performance.now(); };
  return { read, turn };
}

function drawItem(fresh, entry = null) {
  item = fresh;
  setText($("item-position"), item.position ?? "");
  setName($("item-heading"), item.name);
  setText($("item-why"), item.why ?? "");
  if (state.kind === "questions") $("decide-heading").textContent = item.asked ? `Is ${quoted(item.asked)} right?` : "Is this class right?";
  $("fields").replaceChildren(...(item.fields.length ? item.fields.map(drawField) : [
    make("p", { class: "note", text: "The file says nothing else about this item. --items FILE joins texts and images by the item's id." }),
  ]));
  draft = { sure: entry?.sure ?? "", unclear: entry?.unclear ?? false, comment: entry?.comment ?? "" };
  drawDraft();
  $("comment").value = draft.comment;
  setText($("before"), entry ? undoneSentence(entry) : "");
  $("seen").hidden = true;
  $("seen-votes").replaceChildren();
  $("look").disabled = false;
  visible = entry !== null && entry.action !== "skipped";
  clearSearch();
  $("number").value = "";
  $("number-problem").textContent = "";
  outside = null;
  markChosen(null);
  show("item");
  focusOn($("item-heading"));
  watch = stopwatch();
}

function undoneSentence(entry) {
  if (entry.action === "skipped") return "You skipped this item. It is here again.";
  const was = entry.action === "decided" ? quoted(entry.truth) : "cannot tell";
  return `Your decision on this item, ${was}, is undone. You have seen the votes, and this is recorded.`;
}

function drawField(field) {
  const name = make("h3", {}, named(field.name));
  return make("div", { class: `of-${field.kind}` }, name, drawValue(field));
}

function drawValue(field) {
  if (field.kind === "text") return drawText(field);
  if (field.kind === "link") return drawLink(field.value);
  if (field.kind === "missing") return make("p", { class: "missing", text: field.problem ?? `${inWords(field.value)} is missing.` });
  if (field.kind === "image") {
    const picture = make("img", { src: field.address, alt: field.value ? `${inWords(field.name)}: ${inWords(field.value)}` : inWords(field.name), decoding: "async" });
    // Browsers open no data: address in a tab.
    const whole = field.address.startsWith("data:") ? null
      : make("a", { href: field.address, target: "_blank", rel: "noreferrer noopener", class: "note", text: "Open the image in a new tab" });
    const place = make("div", { class: "media" }, picture, whole);
    picture.addEventListener("error", () => place.replaceChildren(unplayable("image", field)));
    return place;
  }
  if (field.kind === "audio" || field.kind === "video") {
    const player = make(field.kind, { src: field.address, controls: true, preload: "metadata", "aria-label": inWords(field.name) });
    const place = make("div", { class: "media" }, player);
    player.addEventListener("error", () => place.replaceChildren(unplayable(field.kind, field)));
    return place;
  }
  return make("p", { class: "text", text: String(field.value ?? "") });
}

function unplayable(kind, field) {
  const done = kind === "image" ? "shown" : "played";
  return make("p", { class: "missing", text: `The ${kind} ${quoted(field.value)} cannot be ${done}: it is missing, or the browser does not know its format.` });
}

// Only addresses of the web become links; a javascript: address stays text.
function drawLink(value) {
  const text = String(value ?? "");
  let address = null;
  try { address = new URL(text); } catch { /* not an address */ }
  if (address === null || !["http:", "https:"].includes(address.protocol)) return make("p", { class: "text short-text" }, named(text));
  return make("p", { class: "text short-text" }, make("a", { href: address.href, rel: "noreferrer noopener", target: "_blank" }, named(text)));
}

function drawText(field) {
  const region = make("div", { class: "text" });
  fillText(region, String(field.value ?? ""));
  watchOverflow(region, field.name);
  if (field.whole !== false) return region;
  const note = make("p", { class: "note", text: `This is the beginning of a text of ${field.length.toLocaleString("en")} characters.` });
  const more = make("button", { type: "button", class: "quiet", text: "Show the whole text" });
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      const answer = await fetch(field.address, { cache: "no-store" });
      if (!answer.ok) throw new Error();
      fillText(region, await answer.text());
      region.focus({ preventScroll: true });
      note.remove();
      more.remove();
    } catch {
      note.textContent = "The rest of the text could not be loaded. Try again.";
      more.disabled = false;
    }
  });
  return make("div", {}, region, note, more);
}

// A long text is cut into blocks, so that the browser lays out only those that can be seen.
function fillText(region, text) {
  if (text.trim() === "") { region.replaceChildren(named(text)); return; }
  const most = 20000;
  if (text.length <= 2 * most) { region.textContent = text; return; }
  const blocks = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + most, text.length);
    let next = end;
    if (end < text.length) {
      const line = text.lastIndexOf("\n", end);
      const word = text.lastIndexOf(" ", end);
      if (line > start) { end = line; next = line + 1; } // the end of a block is a line break already
      else if (word > start) { end = next = word + 1; }
      else if (/[\ud800-\udbff]/.test(text[end - 1])) { end = next = end - 1; }
    }
    blocks.push(make("div", { class: "block-of-text", text: text.slice(start, end) || "\n" }));
    start = next;
  }
  region.replaceChildren(...blocks);
}

// A region that scrolls can be reached by the keyboard; one that does not scroll is no stop.
const overflow = new ResizeObserver((entries) => { for (const { target } of entries) markOverflow(target); });

function markOverflow(region) {
  const scrolls = region.scrollHeight > region.clientHeight + 1 || region.scrollWidth > region.clientWidth + 1;
  if (scrolls) {
    region.tabIndex = 0;
    region.setAttribute("role", "region");
    region.setAttribute("aria-label", region.dataset.name);
  } else {
    for (const name of ["tabindex", "role", "aria-label"]) region.removeAttribute(name);
  }
}

function watchOverflow(region, name) {
  region.dataset.name = inWords(name);
  overflow.observe(region);
}

watchOverflow($("reveal-table"), "Votes");

// ---------------------------------------------------------------------------------------------------------- deciding

const many = () => state.classes_total > state.classes.length || state.classes.length > 12;

function drawClasses() {
  const numbers = state.kind === "numbers";
  $("number-form").hidden = !numbers;
  $("choices").hidden = numbers;
  $("finder").hidden = state.kind !== "classes";
  if (state.kind !== "questions") $("decide-heading").textContent = numbers ? "What is the right number?" : "What is right?";
  $("number-range").textContent = state.range ? `The workers' numbers go from ${short(state.range.low)} to ${short(state.range.high)}.` : "";
  $("decide").classList.toggle("many", many());
  if (many()) $("choices").before($("finder"));
  else $("whole-names").after($("finder"));
  $("choices").replaceChildren(...state.classes.map((one) => make(
    "button",
    { type: "button", class: "choice", "aria-keyshortcuts": one.key, "data-code": one.code, on: chooseByClick(() => chooseClass(one)) },
    one.key ? make("kbd", { text: one.key }) : null, named(one.name),
  )));
  $("whole-names").hidden = numbers || !state.classes.some((one) => one.name.length > 120);
}

// How far the panel hangs below the edge: all of it but the heading and the classes, and at most two fifths of the screen stay.
function hang() {
  const place = $("decide");
  const last = state?.kind === "numbers" ? $("number-form") : $("choices");
  const seen = Math.min(last.getBoundingClientRect().bottom - place.getBoundingClientRect().top + 16, 0.4 * innerHeight);
  place.style.setProperty("--hang", `${Math.min(0, Math.round(seen - place.offsetHeight))}px`);
}

new ResizeObserver(hang).observe($("decide"));
addEventListener("resize", hang);
// A field further down comes into sight when it has the focus, which it does not in a panel that sticks.
document.addEventListener("focusin", (event) => {
  const below = $("decide").contains(event.target) && !$("choices").contains(event.target) && event.target !== $("number");
  $("decide").classList.toggle("stuck", !below);
  if (below) event.target.scrollIntoView({ block: "nearest" });
});

// The second click of a double click on "Next item" must not decide the item that appears under the pointer.
let clicked = null; // the last click of the pointer, wherever it was
let isSecond = false; // whether the click that is handled belongs to a double click
document.addEventListener("click", (event) => {
  if (event.detail === 0) { isSecond = false; return; } // by a key
  isSecond = clicked !== null && event.timeStamp - clicked.timeStamp < 500
    && Math.hypot(event.clientX - clicked.clientX, event.clientY - clicked.clientY) < 10;
  clicked = event;
}, true);
const chooseByClick = (choose) => () => { if (!isSecond) choose(); };

const chooseClass = (one) => decide("decided", quoted(one.name), { truth: one.code });

$("whole-names").addEventListener("click", () => {
  const whole = $("choices").classList.toggle("whole");
  $("whole-names").setAttribute("aria-pressed", whole);
});

function markChosen(body) {
  for (const button of $("choices").children) {
    button.classList.toggle("chosen", body?.action === "decided" && button.dataset.code === String(body.truth));
  }
  $("cannot").classList.toggle("chosen", body?.action === "cannot tell");
  $("skip").classList.toggle("chosen", body?.action === "skipped");
}

function decide(action, words, { truth = null, text = null } = {}) {
  if (view() !== "item") return;
  act(async () => {
    const body = {
      tab, reviewer: reviewer(), entry: randomId(), code: item.code, action, truth, text, seconds: Math.round(10 * watch.read()) / 10,
      sure: draft.sure, unclear: draft.unclear, comment: $("comment").value.replace(/\s+/g, " ").trim(),
      // A server that was started again since it showed the item needs these.
      name: item.name, source: item.source, visible: visible ? "votes" : "nothing",
    };
    pending = { body, words, item: item.name };
    stored.set("pending", JSON.stringify(pending));
    show("saving");
    markChosen(body);
    say(`Saving: ${inWords(item.name)}, ${words} …`);
    let answer;
    try {
      answer = await sendDecision(body);
    } catch (problem) {
      show("item");
      markChosen(null);
      throw problem;
    } finally {
      pending = null;
      stored.drop("pending");
    }
    takeAnswer(answer);
    if (text !== null && state.kind === "classes") call("/api/state").then(takeState, () => {}); // it has another class now
    if (answer.reveal) {
      fetchAhead();
      drawReveal(answer.reveal, action, words);
      say(`Saved: ${inWords(item.name)}, ${words}.`);
    } else {
      say(`Skipped: ${inWords(item.name)}.`);
      await goOn();
    }
  });
}

// A server that was started again shows the items anew, and takes no decision on one that it has not shown.
async function sendDecision(body) {
  try {
    return await insist("/api/decide", body);
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    const shown = await insist("/api/next", { tab, reviewer: body.reviewer });
    if (shown.item?.code !== body.code || shown.item.name !== body.name) throw problem;
    return insist("/api/decide", { ...body, again: true });
  }
}

function takeAnswer(answer) {
  if (answer.plan) state.plan = answer.plan;
  if (answer.panel) takePanel(answer.panel);
  if (answer.classes && JSON.stringify(answer.classes) !== JSON.stringify(state.classes)) {
    state.classes_total = answer.classes_total ?? Math.max(state.classes_total, answer.classes.length);
    state.classes = answer.classes;
    drawClasses();
  }
  drawPlan();
}

const cannotTell = () => decide("cannot tell", "cannot tell");
const skip = () => decide("skipped", "skipped");

function undo() {
  if (!["item", "reveal", "nothing"].includes(view())) return;
  act(async () => {
    await ahead; // the server answers one request of this tab after the other
    const answer = await insist("/api/undo", { tab, reviewer: reviewer(), entry: randomId() });
    ahead = null;
    takeAnswer(answer);
    drawItem(answer.item, answer.entry ?? {});
    say(`Undone: ${inWords(answer.item.name)}. Decide it again.`);
  });
}

function look() {
  if (view() !== "item" || !$("seen").hidden) return;
  act(async () => {
    const answer = await insist("/api/votes", { tab, code: item.code });
    const most = Math.max(...answer.votes.map((vote) => vote.count), 1);
    $("seen-votes").replaceChildren(...answer.votes.map((vote) => make(
      "tr", {}, make("td", {}, named(vote.said)), make("td", { class: "number" }, share(vote.count / most), `${vote.count}`),
    )));
    visible = true;
    $("seen").hidden = false;
    $("look").disabled = true;
    $("seen-heading").focus({ preventScroll: true });
    $("seen").scrollIntoView({ block: "nearest" });
    say("The votes are shown. This is recorded with your decision.");
  });
}

$("cannot").addEventListener("click", chooseByClick(cannotTell));
$("skip").addEventListener("click", chooseByClick(skip));
for (const id of ["undo", "undo-reveal", "undo-nothing"]) $(id).addEventListener("click", undo);
$("look").addEventListener("click", look);

// What is said beside the decision.

const SURE = ["", "sure", "fairly sure", "unsure"];

function drawDraft() {
  for (const button of $("sure").children) button.setAttribute("aria-pressed", button.value === draft.sure);
  $("unclear").setAttribute("aria-pressed", draft.unclear);
}

function setSure(sure) {
  draft.sure = sure;
  drawDraft();
  say(sure === "" ? "How sure you are: not said." : `You are ${sure}.`);
}

function turnUnclear() {
  draft.unclear = !draft.unclear;
  drawDraft();
  say(draft.unclear ? "The guideline is unclear." : "The guideline is not called unclear.");
}

const nextSure = () => setSure(SURE[(SURE.indexOf(draft.sure) + 1) % SURE.length]);

for (const button of $("sure").children) button.addEventListener("click", () => setSure(button.value === draft.sure ? "" : button.value));
$("unclear").addEventListener("click", turnUnclear);
$("comment").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); leaveField(); }
});

function leaveField() {
  clearSearch();
  (view() === "item" ? $("item-heading") : document.activeElement.closest("section")?.querySelector("[tabindex='-1']"))?.focus({ preventScroll: true });
}

// Numbers.

$("number-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("number").value.trim().replace("−", "-");
  const problem = $("number-problem");
  const value = Number(text);
  if (!/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text) || !Number.isFinite(value)) {
    problem.textContent = text === "" ? "Type a number." : "This is not a number. Write it with a point, such as 3.5.";
    return;
  }
  const range = state.range;
  if (range && (value < range.low || value > range.high) && outside !== text) {
    outside = text;
    problem.textContent = `${text} is outside what the workers said. Press Enter once more if you mean it.`;
    return;
  }
  problem.textContent = "";
  decide("decided", text, { text });
});

// ------------------------------------------------------------------------------------------------------------ search

let offers = []; // what the list offers: {one: a class} or {fresh: the name of a new one}
let offered = null; // the text that the offers are for
let active = -1;

function clearSearch() {
  $("search").value = "";
  $("search-note").textContent = "";
  setOffers([], null);
}

function setOffers(fresh, text) {
  offers = fresh;
  offered = text;
  const list = $("found");
  list.replaceChildren(...offers.map((offer, at) => {
    const words = offer.fresh === undefined ? [named(offer.one.name)] : ["Add a new class: ", named(offer.fresh)];
    const option = make("div", { id: `found-${at}`, role: "option", "aria-selected": "false", class: "option", on: () => take(offer) }, ...words);
    option.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
    return option;
  }));
  list.hidden = offers.length === 0;
  $("search").setAttribute("aria-expanded", offers.length > 0);
  setActive(offers.length && offers[0].fresh === undefined ? 0 : -1);
}

function setActive(at) {
  active = at;
  [...$("found").children].forEach((option, place) => option.setAttribute("aria-selected", place === active));
  if (active < 0) $("search").removeAttribute("aria-activedescendant");
  else {
    $("search").setAttribute("aria-activedescendant", `found-${active}`);
    $("found").children[active].scrollIntoView({ block: "nearest" });
  }
}

const take = (offer) => offer.fresh === undefined ? chooseClass(offer.one) : decide("decided", quoted(offer.fresh), { text: offer.fresh });

async function searched(text) {
  const wanted = text.toLowerCase();
  if (state.classes_total > state.classes.length) {
    return (await call(`/api/classes?search=${encodeURIComponent(text)}`)).classes;
  }
  const place = (one) => one.name.toLowerCase().indexOf(wanted);
  const matching = state.classes.filter((one) => place(one) >= 0);
  // Exact ones first, then those that begin with it, then the others in the order of the classes.
  const rank = (one) => one.name.toLowerCase() === wanted ? 0 : place(one) === 0 ? 1 : 2;
  return matching.sort((one, other) => rank(one) - rank(other)).slice(0, 20);
}

$("search").addEventListener("input", async () => {
  const text = $("search").value.trim();
  if (text === "") { clearSearch(); return; }
  let classes;
  try {
    classes = await searched(text);
  } catch {
    $("search-note").textContent = "The search has no answer. Type on to try again.";
    return;
  }
  if ($("search").value.trim() !== text) return; // an older answer
  const exact = classes.some((one) => one.name.trim() === text);
  setOffers([...classes.map((one) => ({ one })), ...(exact ? [] : [{ fresh: text }])], text);
  $("search-note").textContent = classes.length
    ? `${several(classes.length, "class matches", "classes match")}. Enter takes the marked one.`
    : "No class matches. Press the down arrow, then Enter, to add it as a new class.";
});

$("search").addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    if (offers.length) setActive(active < 0 ? (step > 0 ? 0 : offers.length - 1) : (active + step + offers.length) % offers.length);
  } else if (event.key === "Enter") {
    event.preventDefault();
    // What is marked must belong to what is typed: an answer for it may still be on its way.
    if (!event.repeat && active >= 0 && offered === $("search").value.trim()) take(offers[active]);
  }
});

// ------------------------------------------------------------------------------------------------------------ reveal

// A bar that begins at the left.
function share(part) {
  return draw("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { class: "for", x: 0, y: 0, width: Math.max(0, Math.min(100, 100 * part)), height: 10 }));
}

// A bar that goes from the middle to the right if it speaks for the answer, to the left if it speaks against it.
function leaning(value, most) {
  const width = most > 0 ? Math.min(50, 50 * Math.abs(value) / most) : 0;
  return draw("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { class: value < 0 ? "against" : "for", x: value < 0 ? 50 - width : 50, y: 1, width, height: 8 }),
    draw("rect", { class: "middle", x: 49.75, y: 0, width: 0.5, height: 10 }));
}

function drawReveal(reveal, action, words) {
  $("reveal-heading").replaceChildren(action === "decided" ? "You decided " : "You cannot tell", action === "decided" ? named(reveal.you ?? words) : "");
  setText($("reveal-sentence"), reveal.sentence ?? "");
  $("reveal").classList.toggle("differs", action === "decided" && reveal.agrees === false);
  setText($("reveal-remedy"), reveal.remedy ?? "");
  drawVotes(reveal, action);
  const since = reveal.fitted === undefined ? "" : `As of the fit with ${several(reveal.fitted, "decision", "decisions")}, before this one.`;
  const left = reveal.left_out ? `${several(reveal.left_out, "more vote is", "more votes are")} not listed.` : "";
  setText($("reveal-note"), `${left} ${since}`.trim());
  show("reveal");
  $("reveal-table").scrollTop = 0;
  markOverflow($("reveal-table"));
  focusOn($("reveal-heading"));
}

function drawVotes(reveal, action) {
  const votes = reveal.votes ?? [];
  const weighed = reveal.scale !== null && reveal.scale !== undefined;
  $("reveal-adds").hidden = !weighed;
  $("reveal-table").hidden = votes.length === 0;
  setText($("reveal-axis"), weighed && reveal.axis ? `${reveal.axis}. A bar to the right speaks for the answer.` : "");
  const rest = restOf(reveal, votes);
  const sizes = [...votes.map((vote) => vote.contribution), reveal.prior, reveal.limit, rest].filter(Number.isFinite).map(Math.abs);
  const most = Math.max(...sizes, 0);
  const bar = (value) => make("td", { class: "of-bars" }, ...(Number.isFinite(value)
    ? [leaning(value, most), make("span", { class: "amount", text: signed(value) })] : [make("span", { class: "amount", text: "without limit" })]));
  $("reveal-votes").replaceChildren(...votes.map((vote) => make(
    "tr", {}, make("td", {}, named(vote.worker)),
    make("td", {}, named(vote.said), action === "decided" && vote.agrees ? make("span", { class: "tag", text: "as you" }) : null),
    weighed ? bar(vote.contribution) : null,
  )));
  const sum = (words, value) => Number.isFinite(value) && value !== 0 ? make("tr", {}, make("th", { scope: "row", colspan: 2, text: words }), bar(value)) : null;
  const lead = Number.isFinite(reveal.difference)
    ? make("tr", { class: "lead-row" }, make("th", { scope: "row", colspan: 2, text: "Lead of the answer" }),
      make("td", { class: "of-bars" }, make("span", { class: "amount", text: signed(reveal.difference) }))) : null;
  $("reveal-sums").replaceChildren(...(weighed ? [
    sum(several(reveal.left_out ?? 0, "more vote", "more votes"), rest), sum("Before any vote", reveal.prior),
    sum("Limits of confidence", reveal.limit), lead,
  ] : []).filter((row) => row !== null));
}

// What the votes that are not listed add together.
function restOf(reveal, votes) {
  if (!reveal.left_out || !Number.isFinite(reveal.difference)) return null;
  const listed = votes.reduce((sum, vote) => sum + (vote.contribution ?? NaN), 0);
  return reveal.difference - (reveal.prior ?? 0) - (reveal.limit ?? 0) - listed;
}

$("go-on").addEventListener("click", () => { if (view() === "reveal") act(goOn); });

// ------------------------------------------------------------------------------------------------------------- panel

function takePanel(fresh, restarted = false) {
  if (!fresh || (!restarted && panel !== null && fresh.version < panel.version)) return;
  panel = fresh;
  panelCame = performance.now();
  drawPanel();
}

function drawCounts() {
  if (panel === null) return;
  const unknown = panel.cannot_tell ? `; ${several(panel.cannot_tell, "item", "items")} that nobody can tell` : "";
  setText($("counts"), `${several(panel.decisions, "decision", "decisions")}, ${panel.random} of them on random items${unknown}.`);
}

function drawPanel() {
  drawCounts();
  const accuracy = panel.accuracy;
  $("accuracy").textContent = accuracy ? percent(accuracy.value) : "–";
  setText($("accuracy-interval"), accuracy ? `${interval(accuracy.low, accuracy.high)} on ${several(accuracy.items, "item", "items")}` : "not yet");
  setText($("accuracy-sentence"), accuracy?.sentence ?? "");
  const expected = panel.expected;
  $("expected").textContent = expected && Number.isFinite(expected.value) ? percent(expected.value) : "–";
  setText($("expected-interval"), expected ? interval(expected.low, expected.high) : "not yet");
  setText($("expected-sentence"), expected?.sentence ?? "");
  const points = (panel.curve ?? []).filter((point) => Number.isFinite(point.value));
  const numbers = state?.kind === "numbers" && points.length === 0; // they are measured by errors, which the sentence says
  for (const id of ["worth", "curve-part"]) $(id).hidden = numbers;
  drawCurve(points);
  setText($("stop"), panel.stop ?? "");
  setText($("next-ten"), panel.next ?? "");
  setText($("accept"), panel.accept ?? "");
  $("remarks").replaceChildren(...(panel.remarks ?? []).map((remark) => make("li", { text: remark })));
  const changed = panel.changed ?? { count: 0, first: [] };
  setText($("changed-count"), changed.count ? `${several(changed.count, "answer has", "answers have")} changed.` : numbers ? "" : "No answer has changed yet.");
  $("changed").hidden = changed.first.length === 0;
  $("changed").querySelector("summary").textContent = changed.count > changed.first.length ? `The first ${changed.first.length}` : "Which answers";
  $("changed-rows").replaceChildren(...changed.first.map((one) => make(
    "tr", {}, make("td", {}, named(one.item)), make("td", {}, named(one.before)), make("td", {}, named(one.now)),
  )));
  const workers = panel.workers ?? [];
  $("moved").hidden = workers.length === 0;
  $("moved-rows").replaceChildren(...workers.map((one) => make(
    "tr", {}, make("td", {}, named(one.worker)), make("td", { class: "number", text: worth(one.before) }),
    make("td", { class: "number", text: `${one.now > one.before ? "↑" : one.now < one.before ? "↓" : ""} ${worth(one.now)}` }),
  )));
  drawAge();
}

const worth = (quality) => Number.isFinite(quality) ? quality.toFixed(2) : "–";

function drawAge() {
  if (panel === null) return;
  const seconds = Math.round((panel.age ?? 0) + (performance.now() - panelCame) / 1000);
  const age = seconds < 90 ? `${seconds} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  const all = several(panel.decisions, "decision", "decisions");
  const which = panel.fitted !== panel.decisions ? `${panel.fitted} of ${all}` : panel.decisions === 1 ? all : `all ${all}`;
  setText($("age"), `Fit of ${panel.decisions ? which : "the votes alone"}, ${age} ago${panel.fitting ? "; refitting" : ""}.`);
}

setInterval(drawAge, 1000);

// ------------------------------------------------------------------------------------------------------------- curve

// Steps between ticks that people count in.
function niceStep(span, count) {
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
}

function ticks(low, high, step) {
  const all = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + 1e-9 * step; at += 1) all.push(at * step);
  return all;
}

let curveDrawn = "";

function drawCurve(points) {
  const key = JSON.stringify(points);
  if (key === curveDrawn) return;
  curveDrawn = key;
  $("curve-rows").replaceChildren(...points.map((point) => make(
    "tr", {}, make("td", { class: "number", text: `${point.decisions}` }), make("td", { class: "number", text: percent(point.value) }),
    make("td", { class: "number", text: interval(point.low, point.high) || "–" }),
  )));
  if (points.length === 0) { $("curve").replaceChildren(make("p", { class: "note", text: "It is drawn after the first fit." })); return; }
  const [width, height, left, right, top, bottom] = [320, 200, 44, 14, 10, 40];
  const values = points.flatMap((point) => [point.value, point.low, point.high]).filter((value) => Number.isFinite(value));
  const last = points[points.length - 1];
  const step = Math.max(0.05, niceStep(Math.max(...values) - Math.min(...values) + 0.02, 4));
  const lowest = Math.max(0, step * Math.floor(Math.min(...values) / step));
  const highest = Math.max(lowest + step, step * Math.ceil(Math.max(...values) / step - 1e-9));
  const longest = Math.max(10, last.decisions);
  const x = (decisions) => left + (width - left - right) * decisions / longest;
  const y = (value) => height - bottom - (height - top - bottom) * (value - lowest) / (highest - lowest);
  const at = (decisions, value) => `${x(decisions).toFixed(1)},${y(value).toFixed(1)}`;
  const marks = [];
  for (const value of ticks(lowest, highest, step)) {
    marks.push(draw("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    marks.push(draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end", text: `${Math.round(100 * value)}%` }));
  }
  for (const decisions of ticks(0, longest, niceStep(longest, 5))) {
    marks.push(draw("text", { x: x(decisions), y: height - bottom + 16, "text-anchor": "middle", text: `${decisions}` }));
  }
  marks.push(draw("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
  marks.push(draw("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle", text: "Decisions" }));
  const band = points.filter((point) => Number.isFinite(point.low) && Number.isFinite(point.high));
  if (band.length > 1) {
    const over = band.map((point) => at(point.decisions, point.high));
    const under = band.map((point) => at(point.decisions, point.low)).reverse();
    marks.push(draw("polygon", { class: "band", points: [...over, ...under].join(" ") }));
  } else if (band.length === 1) {
    marks.push(draw("line", { class: "whisker", x1: x(band[0].decisions), x2: x(band[0].decisions), y1: y(band[0].low), y2: y(band[0].high) }));
  }
  marks.push(draw("polyline", { class: "line", points: points.map((point) => at(point.decisions, point.value)).join(" ") }));
  marks.push(draw("circle", { class: "point", cx: x(last.decisions), cy: y(last.value), r: 4 }));
  const range = interval(last.low, last.high);
  $("curve").replaceChildren(draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": "curve-title curve-text" },
    draw("title", { id: "curve-title", text: "Expected accuracy of all answers after each decision" }),
    draw("desc", { id: "curve-text", text: `From ${percent(points[0].value)} at ${several(points[0].decisions, "decision", "decisions")} to ${percent(last.value)} at ${last.decisions}${range ? `, with an interval of ${range}` : ""}. The table below has all values.` }),
    ...marks));
}

// --------------------------------------------------------------------------------------------------------------- end

function drawEnd() {
  if (!["item", "reveal", "nothing"].includes(view())) return;
  viewBefore = view();
  $("end-heading").textContent = "What was done";
  setText($("end-sentence"), "All decisions are saved. You can go back and decide more, or finish. Finishing closes the server; the file stays, and the review can be started again.");
  drawEndTiles();
  setText($("end-file"), state.file);
  setText($("end-command"), state.command);
  $("copied").textContent = "";
  say("");
  show("end");
  focusOn($("end-heading"));
}

function drawEndTiles() {
  const tile = (words, value, remark, strong) => make("div", { class: strong ? "strong" : null }, make("dt", { text: words }), make("dd", { text: value }),
    remark ? make("dd", { class: "remark", text: remark }) : null);
  const accuracy = panel?.accuracy;
  $("end-tiles").replaceChildren(
    tile("Decisions", `${panel?.decisions ?? 0}`, `${panel?.random ?? 0} on random items`, true),
    tile("Cannot be told", `${panel?.cannot_tell ?? 0}`),
    tile("Right on random items", accuracy ? percent(accuracy.value) : "–", accuracy ? interval(accuracy.low, accuracy.high) : "No random item is decided yet."),
    tile("Answers that changed", `${panel?.changed?.count ?? 0}`),
  );
}

function goBack() {
  if (view() !== "end") return;
  if (viewBefore === "nothing") { show("nothing"); focusOn($("nothing-heading")); return; }
  show(viewBefore);
  focusOn($(viewBefore === "reveal" ? "reveal-heading" : "item-heading"));
}

function changePlan() {
  if (!["item", "reveal", "nothing"].includes(view())) return;
  drawStart();
  $("change-plan").open = true;
  $("plan-random").focus();
}

$("open-end").addEventListener("click", drawEnd);
$("nothing-end").addEventListener("click", drawEnd);
$("nothing-plan").addEventListener("click", changePlan);
$("nothing-again").addEventListener("click", () => { if (view() === "nothing") act(goOn); });
$("panel-plan").addEventListener("click", changePlan);
$("back").addEventListener("click", goBack);

$("finish").addEventListener("click", () => act(async () => {
  if (view() !== "end") return;
  const answer = await insist("/api/finish", {});
  events?.close();
  events = null;
  stored.drop("begun");
  panel.fitting = false; // a fit that runs still is not waited for
  drawAge();
  $("end-heading").textContent = "Finished";
  setText($("end-sentence"), `${answer.sentence ?? ""} The server has closed. You can close this tab.`.trim());
  setText($("end-command"), answer.command ?? state.command);
  show("finished");
  focusOn($("end-heading"));
}));

$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText($("end-command").textContent);
    $("copied").textContent = "Copied.";
  } catch { // a connection that does not count as safe has no clipboard
    getSelection().selectAllChildren($("end-command"));
    $("copied").textContent = "Selected: press Ctrl+C to copy.";
  }
});

// -------------------------------------------------------------------------------------------------------------- keys

const help = $("help");
const openHelp = () => { if (!help.open) help.showModal(); };
$("open-help").addEventListener("click", openHelp);
$("close-help").addEventListener("click", () => help.close());

const COMMANDS = {
  s: skip, x: cannotTell, u: undo, v: look, h: nextSure, g: turnUnclear,
  c: () => $("comment").focus(),
  "/": () => { if (state.kind !== "questions") (state.kind === "numbers" ? $("number") : $("search")).focus(); },
};

// The key as it is printed on a Latin keyboard: other layouts have the letter elsewhere, French ones the digits on Shift.
function keyOf(event) {
  if (/^[a-z0-9/?]$/i.test(event.key)) return event.key.toLowerCase();
  if (/^Digit[1-9]$/.test(event.code) && !event.shiftKey) return event.code.slice(5);
  if (/^Key[A-Z]$/.test(event.code) && event.key.length === 1 && event.key > "\u007f") return event.code.slice(3).toLowerCase();
  return event.key;
}

// Arrows scroll a long text, wherever the focus is; at its end they scroll the page.
function scrollText(event) {
  const steps = { ArrowDown: 60, ArrowUp: -60, PageDown: 0.85, PageUp: -0.85 };
  const step = steps[event.key];
  const region = $("fields").querySelector(".text[tabindex]");
  if (!step || !region || region.contains(event.target)) return;
  const before = region.scrollTop;
  region.scrollTop += Math.abs(step) < 1 ? step * region.clientHeight : step;
  if (region.scrollTop !== before) event.preventDefault();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
  const key = keyOf(event);
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.closest("input:not([type=checkbox]), textarea, select")) {
    if (key === "Escape" && !help.open) { event.preventDefault(); leaveField(); }
    return;
  }
  if (help.open) {
    if (key === "?" && !event.repeat) { event.preventDefault(); help.close(); }
    return;
  }
  if (key === "?") { event.preventDefault(); if (!event.repeat) openHelp(); return; }
  const control = target.closest("button, a, summary, audio, video");
  if (control && (key === "Enter" || key === " ")) { if (event.repeat) event.preventDefault(); return; }
  if (target.closest("audio, video") && key.startsWith("Arrow")) return;
  if (view() === "item") scrollText(event);
  if (event.repeat || event.defaultPrevented || busy) return;
  const done = pressed(key, target);
  if (done) event.preventDefault();
});

// Does what a key stands for in this view, and says whether it stands for anything.
function pressed(key, target) {
  if (view() === "end" && key === "Escape") { goBack(); return true; }
  if (view() === "reveal" || view() === "nothing") {
    if (key === "u") { undo(); return true; }
    if (view() === "reveal" && [" ", "Enter", "ArrowRight"].includes(key)) { act(goOn); return true; }
    return false;
  }
  if (view() === "start" && key === "Enter") { $("start").requestSubmit(); return true; }
  if (view() !== "item") return false;
  if (Object.hasOwn(COMMANDS, key)) { COMMANDS[key](); return true; }
  if (state.kind === "numbers") {
    if (/^[-+.\d]$/.test(key)) $("number").focus(); // the browser then types the character into it
    return false;
  }
  const one = state.classes.find((known) => known.key === key);
  if (one) chooseClass(one);
  return Boolean(one);
}

// --------------------------------------------------------------------------------------------------------- beginning

// Sends a decision that a reload has interrupted, with the same entry, so that it is saved once.
async function sendKept() {
  const kept = stored.get("pending");
  if (kept === null) return;
  pending = JSON.parse(kept);
  try {
    await sendDecision(pending.body);
    say(`Saved: your decision on ${quoted(pending.item)}, ${pending.words}.`);
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    say(`Your decision on ${quoted(pending.item)}, ${pending.words}, was not taken: ${problem.message}`, true);
  } finally {
    pending = null;
    stored.drop("pending");
  }
}

async function begin() {
  await ownTab();
  $("reviewer").value = stored.get("reviewer") ?? document.body.dataset.reviewer;
  const kept = stored.get("pending");
  await sendKept();
  takeState(await insist("/api/state"));
  drawPlan();
  listen();
  busy = false;
  if (stored.get("begun") === "yes" && reviewer() !== "") {
    setName($("who-name"), reviewer());
    $("who").hidden = false;
    await act(goOn);
  } else {
    const said = kept === null ? "" : $("said").textContent;
    drawStart();
    if (said) say(said);
  }
}

begin();
