"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 100;
const SVG = "http://www.w3.org/2000/svg";
const place = (id) => document.getElementById(id);
const state = { words: [], kinds: new Set(), shown: PAGE };

// Every text goes through here, as text: nothing that a memory says becomes markup.
function made(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  return filled(node, attributes, children);
}
function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}
function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}
function dot(colour) {
  const node = made("span", { class: "dot" });
  node.style.background = colour;
  return node;
}
function many(count, one, more) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : more}`;
}

for (const record of data.records) {
  const parts = [record.text, record.kind, record.category, record.speaker, record.conversation, record.at];
  record.searched = [...parts, ...record.sources].join(" ").toLowerCase();
}

function matching() {
  return data.records.filter(
    (record) => state.kinds.has(record.kind) && state.words.every((word) => record.searched.includes(word)),
  );
}

function show() {
  const found = matching();
  place("count").textContent = `${found.length.toLocaleString("en")} of ${many(data.records.length, "memory", "memories")}`;
  showList(found);
  showTimeline(found);
  showGraph(new Set(found.map((record) => record.id)));
}

function showList(found) {
  place("list").replaceChildren(...found.slice(0, state.shown).map(row));
  place("more").hidden = found.length <= state.shown;
}

function row(record) {
  const told = [
    data.names[record.kind] && record.kind, record.category, record.speaker, record.at, record.state,
    record.stage, record.conversation && `in ${record.conversation}`,
    record.mentions > 1 ? `said ${record.mentions} times` : "",
    record.sources.length ? `from ${record.sources.slice(0, 5).join(", ")}` : "",
    record.links ? many(record.links, "connection", "connections") : "",
  ].filter(Boolean).join(" · ");
  return made(
    "li", { "data-id": record.id },
    made("div", record.state === "superseded" ? { class: "gone" } : {}, dot(data.colours[record.kind]), record.text),
    made("div", { class: "soft" }, told),
  );
}

function showTimeline(found) {
  const [width, height, foot] = [1100, 130, 18];
  const times = data.records.map((record) => record.time);
  if (!times.length) return place("timeline").replaceChildren("Nothing is remembered yet.");
  const [first, last] = [Math.min.apply(null, times), Math.max.apply(null, times)];
  const count = Math.min(90, Math.max(12, times.length));
  const bucket = (time) => Math.min(count - 1, Math.floor(((time - first) / (last - first || 1)) * count));
  const bars = Array.from({ length: count }, () => ({}));
  for (const record of found) {
    const bar = bars[bucket(record.time)];
    bar[record.kind] = (bar[record.kind] || 0) + 1;
  }
  const total = (bar) => Object.values(bar).reduce((sum, value) => sum + value, 0);
  const most = Math.max(1, ...bars.map(total));
  const image = drawn("svg", { viewBox: `0 0 ${width} ${height + foot}`, role: "img", "aria-label": "Memories over time" });
  image.append(drawn("line", { class: "axis", x1: 0, x2: width, y1: height, y2: height }));
  bars.forEach((bar, number) => {
    let top = height;
    for (const kind of Object.keys(data.names)) {
      if (!bar[kind]) continue;
      const tall = ((height - 18) * bar[kind]) / most;
      top -= tall;
      const title = drawn("title", {}, `${day(first + ((last - first) * number) / count)}: ${many(bar[kind], kind, data.names[kind])}`);
      image.append(drawn("rect", {
        x: (number * width) / count + 1, y: top, width: width / count - 2, height: tall, fill: data.colours[kind],
      }, title));
    }
  });
  image.append(drawn("text", { x: 0, y: height + 14 }, day(first)));
  image.append(drawn("text", { x: width, y: height + 14, "text-anchor": "end" }, day(last)));
  image.append(drawn("text", { x: 0, y: 10 }, `highest bar: ${most}`));
  place("timeline").replaceChildren(image);
}

function day(seconds) {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

function showGraph(found) {
  const { nodes, edges, width, height } = data.network;
  if (!nodes.length) return place("graph").replaceChildren("Nothing is linked yet.");
  const lit = (node) => node.ids.some((id) => found.has(id));
  const image = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "What is linked with what" });
  const texts = [];
  const write = (label, look) => {
    if (label) texts.push(drawn("text", { x: label.x, y: label.y, class: look }, label.text));
  };
  for (const edge of edges) {
    const [a, b] = [nodes[edge.a], nodes[edge.b]];
    const faded = lit(a) && lit(b) ? "" : "faded";
    const line = { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: faded, "stroke-width": 0.5 + 1.5 * edge.weight };
    image.append(drawn("line", line, drawn("title", {}, edge.label || `similarity ${edge.weight.toFixed(2)}`)));
    write(edge.written, `node edge ${faded}`);
  }
  for (const node of nodes) {
    const faded = lit(node) ? "" : "faded";
    const circle = { cx: node.x, cy: node.y, r: node.radius, fill: data.colours[node.kind], class: faded };
    const drawing = drawn("circle", circle, drawn("title", {}, node.label));
    drawing.addEventListener("click", () => ask(node.label));
    image.append(drawing);
    write(node.written, `node ${faded}`);
  }
  image.append(...texts);
  const legend = made("div", { class: "soft" }, data.network.left_out ? `${data.network.left_out} more are not drawn.` : "");
  place("graph").replaceChildren(image, legend);
}

function cut(text, length) {
  const signs = Array.from(text);
  return signs.length > length ? `${signs.slice(0, length - 1).join("")}…` : text;
}

function showBudget() {
  const { query, budget, tokens, blocks } = data.context;
  const bar = made("div", { class: "bar" });
  for (const block of blocks) {
    const part = made("div", { title: `${block.title}: ${block.tokens} tokens` });
    part.style.background = block.colour;
    part.style.width = `${(100 * block.tokens) / budget}%`;
    bar.append(part);
  }
  const told = `${tokens.toLocaleString("en")} of ${many(budget, "token", "tokens")}`;
  place("budget").replaceChildren(
    made("div", { class: "soft" }, query ? `${told}, for “${cut(query, 160)}”` : told),
    bar,
    ...blocks.map((block, number) => made(
      "details", number ? {} : { open: "" },
      made("summary", {}, dot(block.colour), `${block.title} · ${many(block.tokens, "token", "tokens")}`),
      made("pre", {}, block.text),
    )),
  );
}

function kindBoxes() {
  for (const [kind, name] of Object.entries(data.names)) {
    const count = data.records.filter((record) => record.kind === kind).length;
    if (!count) continue;
    state.kinds.add(kind);
    const box = made("input", { type: "checkbox", checked: "" });
    box.addEventListener("change", () => {
      if (box.checked) state.kinds.add(kind); else state.kinds.delete(kind);
      show();
    });
    place("kinds").append(made("label", {}, box, " ", dot(data.colours[kind]), `${name} ${count.toLocaleString("en")}`));
  }
}

function ask(text) {
  place("query").value = text;
  history.replaceState(null, "", `#${new URLSearchParams({ q: text })}`);
  filter(text);
}
function filter(text) {
  state.words = text.toLowerCase().split(/\s+/).filter(Boolean);
  state.shown = PAGE;
  show();
}
function fromAddress() {
  const text = new URLSearchParams(location.hash.slice(1)).get("q") || "";
  place("query").value = text;
  filter(text);
}

document.title = `Memory of ${data.namespace}`;
place("namespace").textContent = data.namespace;
place("facts").textContent =
  `${many(data.total, "record", "records")}, seen on ${data.now}` +
  (data.total > data.records.length ? `; the newest ${data.records.length.toLocaleString("en")} are here` : "");
place("search").addEventListener("submit", (event) => event.preventDefault());
place("query").addEventListener("input", (event) => ask(event.target.value));
place("more").addEventListener("click", () => { state.shown += PAGE; showList(matching()); });
window.addEventListener("hashchange", fromAddress);
kindBoxes();
showBudget();
fromAddress();
