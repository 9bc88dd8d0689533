// Shows each page in frames of several widths and writes what is wrong into the element `found`.
"use strict";
const found = [];

function channels(colour) {
  const parts = colour.match(/[\d.]+/g).map(Number);
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
    const what = `${e.tagName.toLowerCase()}.${e.getAttribute("class") ?? ""} ` +
      JSON.stringify(e.textContent.trim().slice(0, 40));
    // What is in a box that scrolls may be wider.
    if (!e.closest(".scroll") && (box.right > width + 0.5 || box.left < -0.5)) {
      say(`${what} reaches from ${box.left} to ${box.right}`);
    }
    const hides = style.overflowX === "hidden" || style.overflowX === "clip";
    if (hides && !e.closest("svg") && e.scrollWidth > e.clientWidth + 1) say(`${what} is cut off`);
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.tagName === "TITLE" || e.tagName.toLowerCase() === "title") continue;
    if (e.tagName.toLowerCase() === "text") {
      // In a drawing: on its vertex, the rectangle before it, or on a line's label.
      const vertex = e.previousElementSibling;
      if (!vertex || vertex.tagName.toLowerCase() !== "rect") continue;
      const [on, text] = [vertex, e].map((x) => channels(view.getComputedStyle(x).fill));
      if (contrast(on, text) < 4.5) say(`${what} has a contrast of ${contrast(on, text)}`);
      const [inner, outer] = [box, vertex.getBoundingClientRect()];
      if (inner.left < outer.left - 1 || inner.right > outer.right + 1) say(`${what} is wider than its vertex`);
      continue;
    }
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
}

async function run() {
  for (const [name, text] of PAGES) {
    for (const width of [360, 800, 1400]) {
      const frame = document.createElement("iframe");
      frame.style.cssText = `width:${width}px;height:900px;border:0`;
      frame.srcdoc = text;
      const loaded = new Promise((resolve) => { frame.onload = resolve; });
      document.body.append(frame);
      await loaded;
      look(name, width, frame);
      frame.remove();
    }
  }
  found.push(`done ${PAGES.length} pages`);
  const pre = document.createElement("pre");
  pre.id = "found";
  pre.textContent = found.join("\n");
  document.body.append(pre);
}

run();
