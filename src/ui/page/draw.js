// Draws a scene on a canvas: only what is in view, and less of it the smaller it gets.
const BOX = { w: 208, h: 44 };

function sized(node) {
  if (node.kind === "module") return { w: 176, h: 36, outside: true };
  if (node.kind === "node") return { w: 176, h: 40 };
  return { w: BOX.w, h: BOX.h, wave: node.wave, outside: node.kind === "external" || node.kind === "unknown" };
}

function palette(element) {
  const style = getComputedStyle(element), get = (name) => style.getPropertyValue("--" + name).trim();
  const names = ["bg", "panel", "ink", "muted", "line", "strong", "accent", "good", "bad", "warn", "busy", "quiet", "edge", "faint",
    "wave0", "wave1", "wave2", "wave3", "wave4", "wave5"];
  const colours = Object.fromEntries(names.map((name) => [name, get(name)]));
  colours.dark = get("dark") === "1";
  return colours;
}

const STATES = { applied: "good", planned: "accent", noop: "quiet", skipped: "quiet", pending: "quiet", planning: "busy", applying: "busy",
  failed: "bad", blocked: "warn", unknown: "warn" };

function painter(canvas) {
  const pen = canvas.getContext("2d"), cut = new Map();
  let colours = palette(canvas);
  const fonts = getComputedStyle(document.body).fontFamily;

  // The text, shortened in the middle where it is wider than the room: both ends of a name tell something.
  function short(text, font, room) {
    const key = font + "|" + room + "|" + text;
    if (cut.has(key)) return cut.get(key);
    pen.font = font;
    let fitting = text;
    if (pen.measureText(text).width > room) {
      let low = 1, high = text.length;
      while (low < high) {
        const middle = Math.ceil((low + high) / 2), head = Math.ceil(middle * 0.6);
        const tried = text.slice(0, head) + "…" + (middle - head ? text.slice(-(middle - head)) : "");
        if (pen.measureText(tried).width <= room) { low = middle; fitting = tried; } else high = middle - 1;
      }
    }
    cut.set(key, fitting);
    return fitting;
  }

  function round(x, y, w, h, r) { pen.beginPath(); pen.roundRect(x, y, w, h, r); }

  function bow(ax, ay, bx, by, least) {
    const bend = Math.max(least, Math.abs(bx - ax) * 0.45);
    pen.bezierCurveTo(ax + bend, ay, bx - bend, by, bx, by);
  }

  // From the right side of a box to the left side of another; `rough` where nobody could see the bends.
  function curve(from, to, rough) {
    pen.moveTo(...from[0]);
    if (rough) { for (const point of from.slice(1)) pen.lineTo(...point); for (const point of to.slice().reverse()) pen.lineTo(...point); return; }
    if (from.length > 1) { bow(...from[0], ...from[1], 6); pen.lineTo(...from[2]); }
    const last = from[from.length - 1], next = to[to.length - 1];
    bow(...last, ...next, 18);
    if (to.length > 1) { pen.lineTo(...to[1]); bow(...to[1], ...to[0], 6); }
  }

  function arrow(x, y, size) {
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x + size * 1.5, y - size * 0.75);
    pen.lineTo(x + size * 1.5, y + size * 0.75);
    pen.closePath();
    pen.fill();
  }

  function box(node, at, look, scale) {
    const { w, h } = at, x = at.x - w / 2, y = at.y - h / 2;
    const module = node.kind === "module", group = node.kind === "group", away = node.kind === "external" || node.kind === "unknown";
    const tint = look.colour, alpha = look.dim ? 0.25 : look.faint ? 0.55 : 1;
    if (group && !look.dim) {
      for (const shift of [6, 3]) {
        round(x + shift, y + shift, w, h, 9);
        pen.fillStyle = colours.panel; pen.fill();
        pen.strokeStyle = colours.line; pen.lineWidth = 1; pen.stroke();
      }
    }
    const host = (group ? node.members[0] : node).kind === "node";
    round(x, y, w, h, module ? h / 2 : host ? 2 : 8);
    // What is dimmed still covers the edges behind it.
    pen.globalAlpha = 1;
    pen.fillStyle = module || away || alpha < 1 ? colours.bg : colours.panel;
    pen.fill();
    if (host) { pen.globalAlpha = alpha * (colours.dark ? 0.16 : 0.08); pen.fillStyle = colours.accent; pen.fill(); }
    const far = scale >= 0.3 ? null : node.kind === "stack" ? look.tone : colours.strong;
    if (tint || far) { pen.globalAlpha = alpha * (tint ? (colours.dark ? 0.3 : 0.16) * (scale < 0.3 ? 3 : 1) : 0.3); pen.fillStyle = tint ?? far; pen.fill(); }
    pen.globalAlpha = alpha;
    pen.setLineDash(away ? [6, 4] : module ? [2, 3] : []);
    pen.lineWidth = look.selected ? 2.5 : tint ? 1.5 : 1;
    pen.strokeStyle = look.selected ? colours.accent : tint ?? (look.near ? colours.accent : colours.strong);
    if (node.kind === "unknown") pen.strokeStyle = colours.bad;
    pen.stroke();
    pen.setLineDash([]);
    if (look.focus) {
      round(x - 4, y - 4, w + 8, h + 8, 11);
      pen.strokeStyle = colours.accent; pen.lineWidth = 1.5; pen.stroke();
    }
    if (host) {
      // The foot of a machine.
      pen.fillStyle = pen.strokeStyle; pen.globalAlpha = alpha * 0.7;
      pen.fillRect(x, y + h - 3, w, 3);
      pen.globalAlpha = alpha;
    }
    if (node.environment && node.kind === "stack") {
      pen.fillStyle = look.tone;
      pen.beginPath(); pen.roundRect(x, y, 5, h, [8, 0, 0, 8]); pen.fill();
    }
    if (scale < 0.3) { mark(node, at, look, scale); return; }
    let room = w - 26;
    const badge = look.badge;
    if (badge) {
      pen.font = `600 11px ${fonts}`;
      const wide = pen.measureText(badge).width + 12;
      round(x + w - wide - 8, y + 7, wide, 17, 8.5);
      pen.fillStyle = tint ?? colours.muted; pen.fill();
      pen.fillStyle = colours.dark ? "#0b0f16" : "#fff";
      pen.textBaseline = "middle"; pen.textAlign = "center";
      pen.fillText(badge, x + w - wide / 2 - 8, y + 16);
      room -= wide + 4;
    }
    pen.textAlign = "left"; pen.textBaseline = "alphabetic";
    const lean = module ? 14 : 14;
    const title = `600 13px ${fonts}`, small = `11px ${fonts}`, two = node.sub && scale >= 0.45;
    const name = short(node.label, title, room);
    pen.font = title; pen.fillStyle = colours.ink;
    pen.fillText(name, x + lean, y + (two ? h / 2 - 3 : h / 2 + 4.5));
    if (two) {
      pen.fillStyle = colours.muted;
      const sub = short(node.sub, small, w - 28 - (look.marks.length ? 14 * look.marks.length : 0));
      pen.font = small; pen.fillText(sub, x + lean, y + h / 2 + 13);
    }
    mark(node, at, look, scale);
  }

  function mark(node, at, look, scale) {
    let x = at.x + at.w / 2 - 14;
    const y = at.y + at.h / 2 - 11, size = scale < 0.3 ? 8 : 4;
    for (const sign of look.marks) {
      pen.fillStyle = colours[sign.colour];
      pen.beginPath();
      if (sign.kind === "lock") {
        pen.roundRect(x - 4, y - 2, 9, 7, 1.5); pen.fill();
        pen.beginPath(); pen.arc(x + 0.5, y - 2, 3, Math.PI, 0); pen.strokeStyle = colours[sign.colour]; pen.lineWidth = 1.5; pen.stroke();
      } else { pen.arc(x, y, size, 0, Math.PI * 2); pen.fill(); }
      x -= 14;
    }
    pen.globalAlpha = 1;
  }

  return {
    theme() { colours = palette(canvas); cut.clear(); },
    colour: (name) => colours[name],
    curve, arrow, box, pen,
    get colours() { return colours; },
  };
}
