// Checks of contrast and labels, in the manner of axe. Returns the findings as texts.
(() => {
  const findings = [], seen = new Set();
  const say = text => { if (!seen.has(text)) { seen.add(text); findings.push(text); } };
  const shown = node => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const path = node => `${node.tagName.toLowerCase()}${node.id ? "#" + node.id : ""}${node.className ? "." + String(node.className).replace(/ /g, ".") : ""}`;
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
  const isUnseen = node => node.closest(".unseen") !== null;
  const inside = node => {
    const box = node.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };

  // Text: 4.5:1, or 3:1 if large. A disabled control is exempt, as in WCAG 1.4.3.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || /^(SCRIPT|STYLE|OPTION)$/.test(node.tagName) || !shown(node) || isUnseen(node) || node.closest(":disabled")) continue;
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
    if ((!isMark && parseFloat(style.borderLeftWidth) === 0) || (isMark && style.backgroundImage !== "none") || node.type === "checkbox") continue;
    const behind = background(node.parentElement);
    const found = Math.max(contrast(over(rgba(color), behind), behind), isMark || node.matches(".kind") ? 0 : contrast(background(node), behind));
    if (found < 3) say(`contrast ${found.toFixed(2)} of the mark ${path(node)}`);
  }
  // Names of controls, regions and images.
  const textOf = id => document.getElementById(id)?.textContent.trim() ?? "";
  const nameOf = node => node.getAttribute("aria-label")?.trim() || (node.getAttribute("aria-labelledby") ?? "").split(" ").map(textOf).join(" ").trim()
    || [...node.labels ?? []].map(label => label.textContent.trim()).join(" ") || (node.matches("button, [role=tab], [role=columnheader]") ? node.textContent.trim() : "")
    || node.getAttribute("alt") || "";
  for (const node of document.querySelectorAll("button, input, select, textarea, img, dialog, [tabindex='0'], [role=group], [role=tablist], [role=tabpanel], [role=grid]")) {
    if (shown(node) && !nameOf(node)) say(`no accessible name: ${path(node)}`);
  }
  for (const node of document.querySelectorAll("button[aria-label]")) {
    const label = node.textContent.trim();
    if (/\w/.test(label) && !node.getAttribute("aria-label").toLowerCase().includes(label.toLowerCase())) say(`the label of ${path(node)} lacks its text`);
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
    if (!node.querySelector("thead th[scope=col]") || !node.querySelector("tbody th[scope=row]")) say(`no headers of the table ${path(node)}`);
    for (const head of node.querySelectorAll("thead th")) if (!head.textContent.trim() && !head.getAttribute("aria-label")) say(`an empty header in ${path(node)}`);
  }
  for (const node of document.querySelectorAll("[aria-activedescendant], [aria-controls], [aria-labelledby], [aria-describedby]")) {
    for (const name of ["aria-activedescendant", "aria-controls", "aria-labelledby", "aria-describedby"]) {
      for (const id of (node.getAttribute(name) ?? "").split(" ").filter(Boolean)) if (!document.getElementById(id)) say(`${name} of ${path(node)} leads nowhere`);
    }
  }
  for (const [role, parent] of [["row", "rowgroup"], ["gridcell", "row"], ["columnheader", "row"], ["tab", "tablist"]]) {
    for (const node of document.querySelectorAll(`[role=${role}]`)) if (node.parentElement.getAttribute("role") !== parent) say(`${path(node)} is outside a ${parent}`);
  }
  // Content that scrolls must be reachable with the keyboard.
  for (const node of document.querySelectorAll("body *")) {
    if (!shown(node) || !/auto|scroll/.test(getComputedStyle(node).overflow) || node.scrollHeight <= node.clientHeight && node.scrollWidth <= node.clientWidth) continue;
    if (node.tabIndex < 0 && !node.querySelector("button, input, select, [tabindex='0']")) say(`${path(node)} scrolls and cannot be focused`);
  }
  if (document.documentElement.scrollWidth > innerWidth) say(`the page is ${document.documentElement.scrollWidth} px wide in a window of ${innerWidth} px`);
  if (document.documentElement.scrollHeight > innerHeight) say(`the page is ${document.documentElement.scrollHeight} px high in a window of ${innerHeight} px`);
  return findings;
})()
