// Checks of contrast and labels, in the manner of axe. Returns the findings as texts.
(() => {
  const findings = [], seen = new Set();
  const say = text => { if (!seen.has(text)) { seen.add(text); findings.push(text); } };
  const shown = node => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const path = node => [node.localName, node.id && `#${node.id}`, ...[...node.classList].map(name => `.${name}`)].join("");
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = color => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const luminance = color => {
    const [r, g, b] = color.slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const background = node => {
    const layers = [];
    for (let own = node; own; own = own.parentElement) {
      const color = rgba(getComputedStyle(own).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), rgba(getComputedStyle(document.body).backgroundColor));
  };
  const inside = node => {
    const box = node.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };

  // Text: 4.5:1, or 3:1 if large. A disabled control is exempt, as in WCAG 1.4.3.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || node.closest("script, style, option, .unseen, :disabled") || !shown(node)) continue;
    const style = getComputedStyle(node), size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const behind = background(node), found = contrast(over(rgba(style.color), behind), behind);
    if (found < needed) say(`contrast ${found.toFixed(2)} of “${walker.currentNode.data.trim().slice(0, 30)}” in ${path(node)}`);
  }
  // Marks of the interface: 3:1.
  for (const node of document.querySelectorAll(".span, .track > span, .kind, button, input, select")) {
    if (!shown(node) || node.disabled || !inside(node)) continue;
    const style = getComputedStyle(node), isMark = node.matches(".span, .track > span");
    const color = isMark ? style.backgroundColor : node.matches(".kind") ? style.borderLeftColor : style.borderTopColor;
    if (isMark ? style.backgroundImage !== "none" : parseFloat(style.borderLeftWidth) === 0 || node.type === "checkbox") continue;
    const behind = background(node.parentElement);
    const filling = isMark || node.matches(".kind") ? 0 : contrast(background(node), behind);
    const found = Math.max(contrast(over(rgba(color), behind), behind), filling);
    if (found < 3) say(`contrast ${found.toFixed(2)} of the mark ${path(node)}`);
  }
  // Names of controls, regions and images.
  const textOf = id => document.getElementById(id)?.textContent.trim() ?? "";
  const nameOf = node => [
    node.getAttribute("aria-label"), (node.getAttribute("aria-labelledby") ?? "").split(" ").map(textOf).join(" "),
    ...[...node.labels ?? []].map(label => label.textContent), node.matches("button, [role=tab]") ? node.textContent : "",
    node.getAttribute("alt"),
  ].map(name => name?.trim()).find(Boolean);
  const named = "button, input, select, textarea, img, dialog, [tabindex='0'], [role=group], [role=tablist], [role=grid]";
  for (const node of document.querySelectorAll(named)) {
    if (shown(node) && !nameOf(node)) say(`no accessible name: ${path(node)}`);
  }
  for (const node of document.querySelectorAll("button[aria-label]")) {
    const label = node.textContent.trim();
    const name = node.getAttribute("aria-label").toLowerCase();
    if (/\w/.test(label) && !name.includes(label.toLowerCase())) say(`the label of ${path(node)} lacks its text`);
  }
  // Structure.
  const ids = [...document.querySelectorAll("[id]")].map(node => node.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) say(`id ${id} occurs twice`);
  for (const node of document.querySelectorAll("[tabindex]")) if (node.tabIndex > 0) say(`positive tabindex: ${path(node)}`);
  if (!document.documentElement.lang) say("no lang");
  if (!document.title) say("no title");
  let level = 0;
  for (const node of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!shown(node)) continue;
    const own = Number(node.tagName[1]);
    if (own > level + 1) say(`${node.tagName} “${node.textContent.slice(0, 30)}” after level ${level}`);
    level = own;
  }
  for (const node of document.querySelectorAll("table")) {
    const hasHeaders = node.querySelector("thead th[scope=col]") && node.querySelector("tbody th[scope=row]");
    if (!hasHeaders) say(`no headers of the table ${path(node)}`);
    for (const head of node.querySelectorAll("thead th")) if (!head.textContent.trim()) say(`an empty header in ${path(node)}`);
  }
  for (const name of ["aria-activedescendant", "aria-controls", "aria-labelledby", "aria-describedby"]) {
    for (const node of document.querySelectorAll(`[${name}]`)) {
      for (const id of node.getAttribute(name).split(" ")) if (!$(id)) say(`${name} of ${path(node)} names no element`);
    }
  }
  for (const [role, parent] of [["row", "rowgroup"], ["gridcell", "row"], ["columnheader", "row"], ["tab", "tablist"]]) {
    for (const node of document.querySelectorAll(`[role=${role}]`)) {
      if (node.parentElement.getAttribute("role") !== parent) say(`${path(node)} is outside a ${parent}`);
    }
  }
  // Content that scrolls must be reachable with the keyboard.
  for (const node of document.querySelectorAll("body *")) {
    const scrolls = node.scrollHeight > node.clientHeight || node.scrollWidth > node.clientWidth;
    if (!shown(node) || !scrolls || !/auto|scroll/.test(getComputedStyle(node).overflow)) continue;
    const isReachable = node.tabIndex >= 0 || node.querySelector("button, input, select, [tabindex='0']");
    if (!isReachable) say(`${path(node)} scrolls and cannot be focused`);
  }
  const { scrollWidth, scrollHeight } = document.documentElement;
  if (scrollWidth > innerWidth) say(`the page is ${scrollWidth} px wide in a window of ${innerWidth} px`);
  if (scrollHeight > innerHeight) say(`the page is ${scrollHeight} px high in a window of ${innerHeight} px`);
  return findings;
})()
