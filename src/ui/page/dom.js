// Elements from plain calls. Text only ever becomes text: nothing here reads markup.
const h = (what, ...rest) => {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  const add = (child) => {
    if (child === null || child === undefined || child === false) return;
    if (Array.isArray(child)) child.forEach(add);
    else if (child instanceof Node) element.append(child);
    else if (typeof child === "object") for (const [name, value] of Object.entries(child)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name in element && typeof value !== "string") element[name] = value;
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    else element.append(String(child));
  };
  rest.forEach(add);
  return element;
};

const fill = (element, ...children) => { element.replaceChildren(); element.append(h("div.contents", ...children)); return element; };

// `3 min`, `5 h`, `2 days`: how long ago a moment was.
function ago(stamp) {
  if (!stamp) return "never";
  const seconds = Math.round((Date.now() - Date.parse(stamp)) / 1000);
  if (!Number.isFinite(seconds)) return stamp;
  if (seconds < 5) return "just now";
  if (seconds < 120) return seconds + " s ago";
  if (seconds < 7200) return Math.round(seconds / 60) + " min ago";
  if (seconds < 172800) return Math.round(seconds / 3600) + " h ago";
  return Math.round(seconds / 86400) + " days ago";
}

const when = (stamp) => h("time", { title: stamp ?? "", datetime: stamp ?? "" }, ago(stamp));

function took(from, to) {
  if (!from) return "";
  const seconds = Math.max(0, Math.round(((to ? Date.parse(to) : Date.now()) - Date.parse(from)) / 1000));
  if (seconds < 120) return seconds + " s";
  if (seconds < 7200) return Math.floor(seconds / 60) + " min " + (seconds % 60) + " s";
  return Math.floor(seconds / 3600) + " h " + Math.floor(seconds % 3600 / 60) + " min";
}

// A text that can be copied with one press.
function copied(text, label) {
  const button = h("button.copy", { type: "button", title: "Copy", "aria-label": "Copy " + (label ?? text), onclick: async () => {
    try {
      if (navigator.clipboard && window.isSecureContext) await navigator.clipboard.writeText(text);
      else {
        const area = h("textarea.offscreen", { value: text });
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      button.classList.add("done");
      setTimeout(() => button.classList.remove("done"), 1200);
    } catch { /* A browser may refuse; the text can still be marked by hand. */ }
  } });
  return h("span.copied", h("code", text), button);
}

const plural = (count, one, many) => count.toLocaleString("en") + " " + (count === 1 ? one : many ?? one + "s");
