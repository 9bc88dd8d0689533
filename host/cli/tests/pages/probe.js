// Shows each page in frames of several widths, by day and by night, and writes what is wrong into the element `found`.
"use strict";
const found = [];

function channels(colour) {
  const parts = (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  return parts.length < 4 ? [...parts, 1] : parts;
}

function luminance([r, g, b]) {
  const linear = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

// What is behind an element: the first background that isn't transparent.
function behind(element, view) {
  for (let e = element; e; e = e.parentElement) {
    const colour = channels(view.getComputedStyle(e).backgroundColor);
    if (colour[3] > 0) return colour;
  }
  return [255, 255, 255, 1];
}

const tag = (e) => e.tagName.toLowerCase();

// Digits that belong together must be in one line.
function numbers(e, page, say, what) {
  for (const node of e.childNodes) {
    if (node.nodeType !== 3) continue;
    for (const match of node.textContent.matchAll(/\d[\d,.]*\d|\d/g)) {
      const range = page.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) say(`${what} breaks the number ${match[0]}`);
    }
  }
}

// Texts of a drawing must not lie on each other.
function texts(svg, view, say) {
  const all = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim());
  const written = (t) => [...t.childNodes].filter((n) => n.nodeType === 3 || tag(n) === "tspan").map((n) => n.textContent).join("").trim();
  const boxes = all.map((t) => t.getBoundingClientRect());
  const frame = svg.getBoundingClientRect();
  all.forEach((t, i) => {
    const [a, name] = [boxes[i], written(t)];
    if (a.left < frame.left - 1 || a.right > frame.right + 1) say(`${name} reaches out of its drawing`);
    for (let j = 0; j < i; j++) {
      const across = Math.min(a.right, boxes[j].right) - Math.max(a.left, boxes[j].left);
      const down = Math.min(a.bottom, boxes[j].bottom) - Math.max(a.top, boxes[j].top);
      // Boxes are as high as a line; letters aren't.
      if (across > 1 && down > 4) say(`${name} lies on ${written(all[j])}`);
    }
  });
}

// Lines and areas of a drawing, and the letters on its paper.
function drawing(svg, view, say) {
  const paper = behind(svg, view);
  if (!svg.querySelector("title")?.textContent && !svg.getAttribute("aria-label")) say("a drawing has no title");
  const plot = svg.querySelector(":scope > rect");
  const ground = plot && plot === svg.querySelector("rect") && svg.querySelector("polyline")
    ? channels(view.getComputedStyle(plot).fill) : paper;
  if (contrast(ground, paper) > 1.5) say("a drawing has a ground of another colour than its page");
  for (const e of svg.querySelectorAll("line, polyline, circle, polygon, path, rect, text")) {
    const style = view.getComputedStyle(e);
    const faint = parseFloat(e.getAttribute("opacity") ?? "1") < 1 || parseFloat(style.opacity) < 1;
    for (const part of ["fill", "stroke"]) {
      if (part === "fill" && ["line", "polyline"].includes(tag(e))) continue;
      const colour = channels(style[part]);
      // Grids may be faint; what has the colour of the paper is meant to be unseen; letters on vertices are looked at elsewhere.
      if (style[part] === "none" || faint || colour[3] < 1 || contrast(colour, ground) < 1.05) continue;
      if (tag(e) === "text" && e.previousElementSibling && tag(e.previousElementSibling) === "rect") continue;
      const least = tag(e) === "text" && part === "fill" ? 4.5 : 3;
      const ratio = contrast(colour, ground);
      if (ratio < least) say(`${tag(e)} in a drawing has a ${part} of contrast ${ratio.toFixed(2)}`);
    }
  }
}

function look(name, width, frame) {
  const view = frame.contentWindow, page = frame.contentDocument;
  const say = (text) => found.push(`${name} at ${width}: ${text}`);
  const root = page.documentElement;
  if (root.scrollWidth > width) say(`the page is ${root.scrollWidth} wide`);
  for (const e of page.body.querySelectorAll("*")) {
    const style = view.getComputedStyle(e);
    if (style.display === "none" || style.visibility === "hidden") continue;
    const box = e.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) continue;
    const what = `${tag(e)}.${e.getAttribute("class") ?? ""} ` + JSON.stringify(e.textContent.trim().slice(0, 40));
    // What is in a box that scrolls may be wider.
    if (!e.closest(".scroll") && (box.right > width + 0.5 || box.left < -0.5)) {
      say(`${what} reaches from ${box.left} to ${box.right}`);
    }
    const hides = style.overflowX === "hidden" || style.overflowX === "clip";
    if (hides && !e.closest("svg") && e.scrollWidth > e.clientWidth + 1) say(`${what} is cut off`);
    if (tag(e) === "svg") {
      texts(e, view, say);
      drawing(e, view, say);
    }
    const areas = ["fill", "dot", "key", "part"].filter((c) => e.classList.contains(c) && !e.classList.contains("empty"));
    if (areas.length > 0) {
      const ratio = contrast(channels(style.backgroundColor), behind(e.parentElement, view));
      if (ratio < 3) say(`${what} has a contrast of ${ratio.toFixed(2)}`);
    }
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || ["title", "desc", "style"].includes(tag(e))) continue;
    if (tag(e) === "text") {
      // In a drawing: on its vertex, the rectangle before it, or on a line's label.
      const vertex = e.previousElementSibling;
      if (!vertex || tag(vertex) !== "rect" || !vertex.getAttribute("rx")) continue;
      const [on, text] = [vertex, e].map((x) => channels(view.getComputedStyle(x).fill));
      if (contrast(on, text) < 4.5) say(`${what} has a contrast of ${contrast(on, text)}`);
      const [inner, outer] = [box, vertex.getBoundingClientRect()];
      if (inner.left < outer.left - 1 || inner.right > outer.right + 1) say(`${what} is wider than its vertex`);
      continue;
    }
    numbers(e, page, say, what);
    const ratio = contrast(channels(style.color), behind(e, view));
    if (ratio < 4.5) say(`${what} has a contrast of ${ratio.toFixed(2)}`);
    if (parseFloat(style.fontSize) < 12) say(`${what} is written in ${style.fontSize}`);
    // A box must not lie on its neighbour: the row is the one that is tight.
    const row = e.closest(".row > *");
    const next = row && row.nextElementSibling;
    if (row && next) {
      const [a, b] = [row.getBoundingClientRect(), next.getBoundingClientRect()];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 1) say(`${what} lies on its neighbour`);
    }
  }
  // Names above an axis must not touch.
  for (const axis of page.querySelectorAll(".ticks")) {
    const names = [...axis.children].filter((t) => t.textContent).map((t) => {
      const range = page.createRange();
      range.selectNodeContents(t);
      return [t.textContent, range.getBoundingClientRect()];
    });
    names.slice(1).forEach(([text, box], i) => {
      const [before, other] = names[i];
      if (other.right > box.left - 1) say(`${before} lies on ${text} above an axis`);
    });
  }
}

async function run() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  for (const [name, text] of PAGES) {
    for (const width of [420, 800, 1280]) {
      const frame = document.createElement("iframe");
      frame.style.cssText = `width:${width}px;height:900px;border:0`;
      frame.srcdoc = text;
      const loaded = new Promise((resolve) => { frame.onload = resolve; });
      document.body.append(frame);
      await loaded;
      look(name, width, frame);
      const ground = channels(frame.contentWindow.getComputedStyle(frame.contentDocument.body).backgroundColor);
      if (DARK && frame.contentDocument.querySelector("style") && luminance(ground) > 0.1) {
        found.push(`${name} at ${width}: the page is bright on a dark screen`);
      }
      frame.remove();
    }
  }
  found.push(`done ${PAGES.length} pages ${dark ? "dark" : "light"}`);
  const pre = document.createElement("pre");
  pre.id = "found";
  pre.textContent = found.join("\n");
  document.body.append(pre);
}

run();
