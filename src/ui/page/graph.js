// The drawing one can pan, zoom, filter and click.
// `options`: affected, run (stacks of a run by key), locks and drift (by key), chosen(id), link(key) and nodeLink(key), look (kept between visits).
function graphView(graph, options = {}) {
  const whole = model(graph, options.affected);
  const run = options.run ?? null;
  const stacks = [...whole.boxes.values()].filter((box) => box.kind === "stack");
  const modules = [...whole.boxes.values()].filter((box) => box.kind === "module");
  const hosts = [...whole.boxes.values()].filter((box) => box.kind === "node");
  const wish = Object.assign({
    text: "", environment: "", affected: false, modules: modules.length > 0 && modules.length <= 40 && stacks.length <= 160,
    nodes: hosts.length > 0 && stacks.length <= 160 && (hosts.length <= HOSTS || new Set(hosts.map((box) => box.host.role)).size <= HOSTS),
    near: true, group: "auto", open: new Set(), selected: null,
  }, options.look ?? {});
  // Of what is not there nothing is wished: the next graph may have it.
  if (!modules.length) delete wish.modules;
  if (!hosts.length) delete wish.nodes;
  const canvas = h("canvas.drawing", { tabindex: 0, role: "application", "aria-label":
    "Drawing of the stack graph. Arrow keys go along the edges, plus and minus zoom, slash filters; the list beside it holds the same stacks." });
  const paint = painterLater(canvas);
  const cam = { x: 0, y: 0, k: 1 };
  let now = null, drawn = null, hover = null, focus = null, lit = null, dirty = false, gone = false, size = { w: 0, h: 0, dpr: 1 };

  // --- what is drawn

  function build(keep) {
    now = scene(whole, wish);
    now.size = now.nodes.map(sized);
    const edges = now.edges.map((edge) => ({ from: edge.from, to: edge.to }));
    const most = Math.max(edges.length ? 12 : 4, Math.round(Math.sqrt(now.nodes.length) * (edges.length ? 1.6 : 1.1)));
    drawn = layout(now.size, edges, most);
    drawn.columns.forEach((column) => { column.kinds = new Set(); });
    now.nodes.forEach((node, i) => drawn.columns[drawn.of[i]].kinds.add(node.kind));
    // Groups and nodes stand in no wave, and the waves of a run or of a change are others than those of the whole.
    now.column = run || whole.affected || now.nodes.some((node) => node.kind === "group" || node.kind === "node") ? "level" : "wave";
    now.at = drawn.at.map((at, i) => ({ ...at, w: now.size[i].w, h: now.size[i].h }));
    // Each segment is drawn once a look, however many edges share it.
    const strokes = new Map();
    now.edges.forEach((edge, i) => {
      const style = edge.type === "uses_module" ? "module" : edge.inferred ? "inferred" : "plain";
      for (const part of drawn.routes[i] ?? []) {
        const key = part + style;
        if (strokes.has(key)) strokes.get(key).edges.push(i);
        else strokes.set(key, { part, style, edges: [i] });
      }
    });
    now.strokes = [...strokes.values()];
    now.near = { needs: now.nodes.map(() => []), users: now.nodes.map(() => []) };
    now.edges.forEach((edge) => { now.near.needs[edge.from].push(edge.to); now.near.users[edge.to].push(edge.from); });
    focus = null; hover = null;
    light();
    if (!keep) fit(true);
    list();
    count();
    reopen();
    draw();
  }

  const spot = (id) => { const at = now.place(id); return at === undefined ? now.number.get(id) : at; };

  // What belongs to the selected box: all that it needs, and all that needs it.
  function light() {
    const at = wish.selected ? spot(wish.selected) : hover;
    lit = at === null || at === undefined ? null : {
      at, needs: reached(at, (i) => now.near.needs[i]), users: reached(at, (i) => now.near.users[i]),
    };
  }

  const belongs = (i) => !lit || i === lit.at || lit.needs.has(i) || lit.users.has(i);
  const lies = (edge) => lit && ((edge.from === lit.at || lit.needs.has(edge.from)) && lit.needs.has(edge.to)
    || (edge.to === lit.at || lit.users.has(edge.to)) && lit.users.has(edge.from));

  function look(i) {
    const node = now.nodes[i], marks = [];
    const out = { dim: !belongs(i), selected: wish.selected === node.id, near: lit && !wish.selected && belongs(i), focus: focus === i,
      colour: null, badge: "", marks, tone: whole.tone(node.environment, paint.colours.dark ? 55 : 60, paint.colours.dark ? 62 : 46) };
    const keys = node.kind === "group" ? node.members.map((box) => box.key) : [node.key];
    if (node.kind === "stack" || node.kind === "group") {
      if (keys.some((key) => options.locks?.has(key))) marks.push({ kind: "lock", colour: "warn" });
      if (keys.some((key) => options.drift?.get(key)?.state === "drifted")) marks.push({ kind: "dot", colour: "bad" });
    }
    if (run && (node.kind === "stack" || node.kind === "group")) {
      const states = keys.map((key) => run.get(key)).filter(Boolean);
      const worst = ["failed", "blocked", "unknown", "applying", "planning", "pending", "planned", "applied", "noop", "skipped"]
        .map((state) => states.find((one) => one.state === state)).find(Boolean);
      if (!worst) out.dim = true;
      else { out.colour = paint.colour(STATES[worst.state] ?? "quiet"); out.badge = node.kind === "group" ? String(keys.length) : "w" + worst.wave; }
    } else if (run) out.dim ||= true;
    else if (node.touched) { out.colour = paint.colour("wave" + node.touched.wave % 6); out.badge = "w" + node.touched.wave; }
    else if (node.kind === "group") {
      const touched = node.members.filter((box) => box.touched);
      if (touched.length) out.colour = paint.colour("wave" + Math.min(...touched.map((box) => box.touched.wave)) % 6);
      out.badge = touched.length ? touched.length + " of " + keys.length : String(keys.length);
    }
    if (now.filtered && !wish.selected && node.kind !== "group" && !now.chosen.has(node.id)) out.faint = true;
    return out;
  }

  function draw() {
    if (dirty || gone) return;
    dirty = true;
    requestAnimationFrame(() => { dirty = false; if (!gone && now && size.w) frame(); });
  }

  function frame() {
    const { pen, colours } = paint, { k } = cam;
    pen.setTransform(size.dpr, 0, 0, size.dpr, 0, 0);
    pen.clearRect(0, 0, size.w, size.h);
    pen.setTransform(size.dpr * k, 0, 0, size.dpr * k, -cam.x * k * size.dpr, -cam.y * k * size.dpr);
    const view = { l: cam.x, t: cam.y, r: cam.x + size.w / k, b: cam.y + size.h / k };
    const rough = k < 0.3;
    const STYLES = {
      plain: { dash: [], colour: colours.edge }, inferred: { dash: [7, 5], colour: colours.edge }, module: { dash: [1.5, 4], colour: colours.faint },
    };
    drawn.columns.forEach((column, i) => {
      if (i % 2 || column.right < view.l || column.left > view.r) return;
      pen.fillStyle = colours.dark ? "rgba(255,255,255,.018)" : "rgba(15,30,60,.022)";
      pen.fillRect(column.left - 22, view.t, column.right - column.left + 44, view.b - view.t);
    });
    for (const bright of [false, true]) for (const [style, { dash, colour }] of Object.entries(STYLES)) {
      pen.beginPath();
      let any = false;
      for (const stroke of now.strokes) {
        if (stroke.style !== style) continue;
        const shining = lit ? stroke.edges.some((i) => lies(now.edges[i])) : false;
        if (shining !== bright) continue;
        const [from, to] = drawn.segments[stroke.part];
        const through = drawn.through[drawn.ends[stroke.part][0]];
        if (to[0][0] < view.l || (through ?? from)[0][0] > view.r
          || Math.max(from[0][1], to[0][1]) + 40 < view.t || Math.min(from[0][1], to[0][1]) > view.b) continue;
        if (through) { pen.moveTo(...through[0]); pen.lineTo(...through[1]); }
        paint.curve(from, to, rough);
        any = true;
      }
      if (!any) continue;
      pen.setLineDash(rough ? [] : dash);
      pen.lineWidth = (bright ? 2 : 1.2) / Math.max(0.5, Math.min(1, k));
      pen.strokeStyle = bright ? colours.accent : colour;
      pen.globalAlpha = bright ? 1 : lit || run ? 0.25 : 1;
      pen.stroke();
    }
    pen.globalAlpha = 1;
    pen.setLineDash([]);
    // Edges that go round in a circle, or stay in one column, are red: such an order is none. What is read of nodes may go
    // round: their data is there before anything is applied.
    pen.lineWidth = 1.6;
    now.edges.forEach((edge, i) => {
      if (drawn.routes[i] || edge.type === "uses_module") return;
      const read = edge.type === "reads_host_data" || edge.type === "reads_output";
      pen.strokeStyle = lies(edge) ? colours.accent : read ? colours.edge : colours.bad;
      pen.setLineDash(read ? STYLES.inferred.dash : []);
      const a = now.at[edge.from], b = now.at[edge.to];
      pen.beginPath();
      pen.moveTo(a.x, a.y - a.h / 2);
      pen.bezierCurveTo(a.x, a.y - a.h / 2 - 50, b.x, b.y - b.h / 2 - 50, b.x, b.y - b.h / 2);
      pen.stroke();
    });
    pen.setLineDash([]);
    if (k > 0.35) {
      const heads = new Map();
      now.edges.forEach((edge, i) => { if (drawn.routes[i]) { const shining = lies(edge); if (!heads.get(edge.to)) heads.set(edge.to, shining ? 2 : edge.type === "uses_module" ? 0 : 1); } });
      for (const [to, kind] of heads) {
        const at = now.at[to], x = at.x + at.w / 2;
        if (x < view.l || x > view.r || at.y < view.t || at.y > view.b) continue;
        pen.fillStyle = kind === 2 ? colours.accent : kind === 1 ? colours.edge : colours.faint;
        pen.globalAlpha = kind !== 2 && (lit || run) ? 0.25 : 1;
        paint.arrow(x + 1, at.y, 6);
      }
      pen.globalAlpha = 1;
    }
    for (let i = 0; i < now.nodes.length; i++) {
      const at = now.at[i];
      if (at.x + at.w / 2 < view.l || at.x - at.w / 2 > view.r || at.y + at.h / 2 + 8 < view.t || at.y - at.h / 2 > view.b) continue;
      paint.box(now.nodes[i], at, look(i), k);
    }
    pen.globalAlpha = 1;
    heads();
  }

  // The names of the columns stay at the upper edge.
  function heads() {
    const { pen, colours } = paint, { k } = cam;
    pen.setTransform(size.dpr, 0, 0, size.dpr, 0, 0);
    pen.font = `600 11px ${getComputedStyle(document.body).fontFamily}`;
    pen.textAlign = "center"; pen.textBaseline = "middle";
    let last = -Infinity;
    for (const column of drawn.columns) {
      if (!column.boxes || now.column === "level" && drawn.columns.length === 1) continue;
      const x = ((column.left + column.right) / 2 - cam.x) * k;
      const label = column.wave >= 0 ? now.column + " " + column.wave : column.kinds.size > 1 ? "outside" : column.kinds.has("module") ? "modules" : "elsewhere";
      const w = pen.measureText(label).width + 18;
      if (x + w / 2 < 0 || x - w / 2 > size.w || x - w / 2 < last + 4) continue;
      last = x + w / 2;
      pen.fillStyle = colours.bg; pen.globalAlpha = 0.92;
      pen.beginPath(); pen.roundRect(x - w / 2, 10, w, 20, 10); pen.fill();
      pen.globalAlpha = 1;
      pen.strokeStyle = colours.line; pen.lineWidth = 1; pen.stroke();
      pen.fillStyle = colours.muted; pen.fillText(label, x, 20.5);
    }
  }

  // --- the camera

  function resize() {
    const box = canvas.getBoundingClientRect(), dpr = Math.min(3, window.devicePixelRatio || 1), first = !size.w;
    size = { w: box.width, h: box.height, dpr };
    canvas.width = Math.max(1, Math.round(box.width * dpr));
    canvas.height = Math.max(1, Math.round(box.height * dpr));
    if (first && size.w) fit(true); else draw();
  }

  function fit(first) {
    if (!size.w || !drawn) return;
    const pad = { x: 36, t: 46, b: 40 };
    const k = Math.min((size.w - 2 * pad.x) / Math.max(1, drawn.width), (size.h - pad.t - pad.b) / Math.max(1, drawn.height), 1.15);
    cam.k = Math.max(0.04, k);
    cam.x = drawn.width / 2 - size.w / 2 / cam.k;
    if (first === true && size.w < 700 && cam.k < 0.5 && now.nodes.length < 60) {
      // On a phone names that can be read are more than a whole that cannot: it begins at the first wave.
      cam.k = 0.62;
      cam.x = (drawn.columns.find((column) => column.wave >= 0 && column.boxes) ?? drawn.columns[0]).left - 16 / cam.k;
    }
    cam.y = drawn.height / 2 - (size.h + pad.t - pad.b) / 2 / cam.k;
    draw();
  }

  function zoom(by, x = size.w / 2, y = size.h / 2) {
    const k = Math.min(3, Math.max(0.04, cam.k * by));
    cam.x += x / cam.k - x / k;
    cam.y += y / cam.k - y / k;
    cam.k = k;
    draw();
  }

  // Brings a box to where nothing covers it: the drawer takes the right side, or the lower half of a phone.
  function show(i, least = 0.7) {
    const at = now.at[i];
    if (!at || !size.w) return;
    const open = drawer.classList.contains("open"), narrow = size.w < 700;
    const right = open && !narrow ? size.w - 380 : size.w, bottom = open && narrow ? size.h * 0.38 : size.h;
    const k = cam.k, x = (at.x - cam.x) * k, y = (at.y - cam.y) * k, w = at.w * k / 2 + 14, t = at.h * k / 2 + 14;
    if (k >= least && x > w && x < right - w && y > t + 34 && y < bottom - t) return draw();
    cam.k = Math.max(k, least);
    if (least) {
      cam.x = at.x - right / 2 / cam.k;
      cam.y = at.y - (bottom + 34) / 2 / cam.k;
    } else {
      // No further than it must be: what was pressed stays under the eye.
      cam.x += (x - Math.max(w, Math.min(right - w, x))) / k;
      cam.y += (y - Math.max(t + 34, Math.min(bottom - t, y))) / k;
    }
    draw();
  }

  function hit(x, y) {
    const wx = x / cam.k + cam.x, wy = y / cam.k + cam.y;
    for (let i = now.nodes.length - 1; i >= 0; i--) {
      const at = now.at[i];
      if (Math.abs(wx - at.x) <= at.w / 2 && Math.abs(wy - at.y) <= at.h / 2) return i;
    }
    return null;
  }

  // --- selecting

  function select(id, move) {
    // Another graph may have had it.
    if (id && !whole.boxes.has(id) && now.number.get(id) === undefined) id = null;
    if (id) {
      const box = whole.boxes.get(id);
      if (box && now.number.get(id) === undefined) {
        // It is in a group, or filtered away: what was asked for is to be seen.
        if (now.place(id) === undefined || ASIDE[box.kind] && !wish[ASIDE[box.kind]]) {
          if (ASIDE[box.kind]) { wish[ASIDE[box.kind]] = true; sync(); }
          else if (!now.shown.has(id)) { wish.text = ""; wish.environment = ""; wish.affected = false; sync(); }
          build(true);
        }
        const at = now.place(id);
        if (at !== undefined && now.nodes[at].kind === "group") { wish.open.add(now.nodes[at].key); build(true); }
      }
    }
    wish.selected = id;
    light();
    panel();
    const at = id ? spot(id) : undefined;
    if (at !== undefined && move) { focus = null; show(at); }
    draw();
    options.chosen?.(id);
    for (const row of rows.querySelectorAll("[aria-current]")) row.removeAttribute("aria-current");
    rows.querySelector(`[data-id="${CSS.escape(id ?? "")}"]`)?.setAttribute("aria-current", "true");
  }

  function press(i) {
    if (i === null) return select(null);
    const node = now.nodes[i];
    if (node.kind !== "group") select(node.id);
    else {
      wish.selected = node.id;
      light();
      panel();
    }
    show(i, 0);
  }

  function open(name) {
    const group = now.nodes[now.number.get("group:" + name)];
    wish.open.add(name);
    wish.selected = null;
    panel();
    build(true);
    frameOf((group?.members ?? []).map((box) => now.number.get(box.id)).filter((i) => i !== undefined));
  }

  // Brings some boxes into view, all of them.
  function frameOf(some) {
    if (!some.length || !size.w) return draw();
    const at = some.map((i) => now.at[i]), l = Math.min(...at.map((a) => a.x - a.w / 2)), r = Math.max(...at.map((a) => a.x + a.w / 2));
    const t = Math.min(...at.map((a) => a.y - a.h / 2)), b = Math.max(...at.map((a) => a.y + a.h / 2));
    cam.k = Math.max(0.1, Math.min(1.1, (size.w - 80) / (r - l), (size.h - 100) / (b - t)));
    cam.x = (l + r) / 2 - size.w / 2 / cam.k;
    cam.y = (t + b) / 2 - (size.h + 20) / 2 / cam.k;
    draw();
  }

  const fingers = new Map();
  let dragged = 0, pinch = null;
  const local = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, local(event));
    dragged = fingers.size > 1 ? 99 : 0;
    pinch = null;
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = local(event), before = fingers.get(event.pointerId);
    if (!before) {
      const at = now ? hit(x, y) : null;
      if (at !== hover) { hover = at; canvas.style.cursor = at === null ? "" : "pointer"; if (!wish.selected) light(); canvas.title = at === null ? "" : now.nodes[at].key; draw(); }
      return;
    }
    fingers.set(event.pointerId, [x, y]);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()], apart = Math.hypot(a[0] - b[0], a[1] - b[1]), mid = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
      if (pinch) {
        cam.x -= (mid[0] - pinch.mid[0]) / cam.k; cam.y -= (mid[1] - pinch.mid[1]) / cam.k;
        zoom(apart / Math.max(1, pinch.apart), ...mid);
      }
      pinch = { apart, mid };
      return;
    }
    dragged += Math.abs(x - before[0]) + Math.abs(y - before[1]);
    if (dragged > 4) { canvas.classList.add("dragging"); cam.x -= (x - before[0]) / cam.k; cam.y -= (y - before[1]) / cam.k; draw(); }
  });
  const lifted = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    canvas.classList.remove("dragging");
    pinch = null;
    if (event.type === "pointerup" && dragged <= 4 && !fingers.size) press(hit(...local(event)));
  };
  canvas.addEventListener("pointerup", lifted);
  canvas.addEventListener("pointercancel", lifted);
  canvas.addEventListener("pointerleave", () => { if (hover !== null && !fingers.size) { hover = null; if (!wish.selected) light(); draw(); } });
  canvas.addEventListener("dblclick", (event) => { const at = hit(...local(event)); if (at !== null && now.nodes[at].kind === "group") open(now.nodes[at].key); else if (at === null) zoom(1.6, ...local(event)); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 18 : 1;
    if (event.shiftKey || !event.ctrlKey && event.deltaX !== 0) { cam.x += (event.deltaX || event.deltaY) * lines / cam.k; cam.y += (event.shiftKey ? 0 : event.deltaY) * lines / cam.k; return draw(); }
    zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), ...local(event));
  }, { passive: false });

  function step(key) {
    const at = focus ?? (wish.selected ? spot(wish.selected) : null);
    if (at === null || at === undefined) return false;
    const here = now.at[at];
    const from = key === "ArrowLeft" ? now.near.needs[at] : key === "ArrowRight" ? now.near.users[at]
      : now.at.map((_, i) => i).filter((i) => i !== at && Math.abs(now.at[i].x - here.x) < 2 && (key === "ArrowUp" ? now.at[i].y < here.y : now.at[i].y > here.y));
    let best = null;
    for (const i of from) if (best === null || Math.abs(now.at[i].y - here.y) < Math.abs(now.at[best].y - here.y)) best = i;
    if (best === null) return true;
    if (now.nodes[best].kind === "group") press(best); else select(now.nodes[best].id);
    show(best);
    return true;
  }

  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (move) {
      if (event.shiftKey || !step(event.key)) { cam.x += move[0] * 80 / cam.k; cam.y += move[1] * 80 / cam.k; draw(); }
    } else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0" || event.key === "f") fit();
    else if (event.key === "Enter" && wish.selected?.startsWith("group:")) open(wish.selected.slice(6));
    else return;
    event.preventDefault();
  });
  const keys = (event) => {
    if (gone || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing) { event.preventDefault(); search.focus(); search.select(); }
    else if (event.key === "Escape") {
      if (event.target === search && search.value) { search.value = ""; wish.text = ""; build(); }
      else if (wish.selected) select(null);
      else if (typing) canvas.focus();
    }
  };
  document.addEventListener("keydown", keys);

  // --- the bar

  let timer = 0;
  const search = h("input", { type: "search", placeholder: "Filter stacks  ( / )", "aria-label": "Filter stacks by words; a minus before a word leaves it out", value: wish.text,
    oninput: () => { clearTimeout(timer); timer = setTimeout(() => { wish.text = search.value; build(); }, 140); },
    onkeydown: (event) => { if (event.key === "Enter") { const one = [...now.chosen][0]; if (one) { select(one, true); canvas.focus(); } } } });
  const choice = (label, name, values) => {
    const select = h("select", { "aria-label": label, title: label, onchange: () => { wish[name] = select.value; if (name === "group") wish.open.clear(); build(); } },
      values.map(([value, text]) => h("option", { value, selected: wish[name] === value }, text)));
    return select;
  };
  const toggle = (label, name, title) => {
    const box = h("input", { type: "checkbox", checked: wish[name], onchange: () => { wish[name] = box.checked; build(); } });
    return h("label.toggle", { title }, box, h("span", label));
  };
  const environment = choice("Environment", "environment", [["", "All environments"], ...whole.environments.map((name) => [name, name])]);
  const grouping = choice("Group", "group", [["auto", "Group: automatic"], ["none", "Group: none"], ["folder", "Group: folder"], ["path", "Group: stack"], ["environment", "Group: environment"]]);
  const only = whole.affected ? toggle("Affected only", "affected", "Show what the change touches, alone") : null;
  const uses = modules.length ? toggle("Modules", "modules", "Show modules and who uses them") : null;
  const machines = hosts.length ? toggle("Nodes", "nodes", "Show the nodes whose data reads an output, and those of whom a template reads something") : null;
  const near = toggle("Neighbours", "near", "Show what is next to the stacks that the filter leaves, too");
  const total = h("output.total", { "aria-live": "polite" });
  const sync = () => { search.value = wish.text; environment.value = wish.environment; for (const [box, name] of [[only, "affected"], [uses, "modules"], [machines, "nodes"], [near, "near"]]) if (box) box.firstChild.checked = wish[name]; };
  const more = h("button.more", { type: "button", "aria-expanded": "false", onclick: () => { const shown = bar.classList.toggle("open"); more.setAttribute("aria-expanded", String(shown)); } }, "Filters");
  const opened = h("div.opened");
  function reopen() {
    const names = [...wish.open].filter((name) => now.grouping !== "none" || name.startsWith("role ")).sort();
    opened.hidden = !names.length;
    opened.replaceChildren(...names.map((name) => h("button", { type: "button", title: "Fold this group again", onclick: () => { wish.open.delete(name); wish.selected = null; panel(); build(); } }, name, " ×")),
      names.length > 1 ? h("button", { type: "button", onclick: () => { wish.open.clear(); wish.selected = null; panel(); build(); } }, "Fold all") : "");
  }
  const bar = h("div.bar", search, more, h("div.filters", whole.environments.length > 1 ? environment : null, stacks.length > 12 ? grouping : null, only, uses, machines, near), total);
  function count() {
    const shown = now.stacks.length, groups = now.nodes.filter((node) => node.kind === "group" && node.members[0].kind === "stack").length;
    total.textContent = (shown === stacks.length ? plural(shown, "stack") : `${shown.toLocaleString("en")} of ${plural(stacks.length, "stack")}`)
      + (groups ? ` in ${plural(groups, "group")}` : "") + (now.hosts ? `, ${plural(now.hosts, "node")}` : "");
    empty.hidden = now.nodes.length > 0;
  }
  const empty = h("p.empty.over", { hidden: true }, stacks.length ? "No stack fits the filter." : "There are no stacks here yet.");

  // --- the list, which is the drawing for whoever does not see it

  const rows = h("ul.rows");
  const side = h("nav.side", { "aria-label": "Stacks" }, rows);
  function list() {
    const fitting = stacks.filter((box) => now.chosen.has(box.id)), most = 500;
    if (whole.affected) fitting.sort((a, b) => (a.touched?.wave ?? 1e9) - (b.touched?.wave ?? 1e9) || (a.key < b.key ? -1 : 1));
    rows.replaceChildren(...fitting.slice(0, most).map((box) => h("li", h("button", {
      type: "button", "data-id": box.id, "aria-current": wish.selected === box.id ? "true" : null, title: box.key, onclick: () => select(box.id, true),
    }, h("i.dot", { "data-environment": box.environment }), h("span.name", box.label, h("small", box.sub)), status(box)))));
    if (fitting.length > most) rows.append(h("li.rest", `and ${(fitting.length - most).toLocaleString("en")} more: filter to see them`));
    for (const dot of rows.querySelectorAll(".dot")) dot.style.background = whole.tone(dot.dataset.environment, 55, 52);
  }
  function status(box) {
    const part = run?.get(box.key);
    if (part) return chip(part.state, STATES[part.state]);
    if (box.touched) return h("span.badge", { "data-wave": box.touched.wave % 6 }, "w" + box.touched.wave);
    return null;
  }

  // --- the drawer

  const drawer = h("aside.drawer", { "aria-label": "Details" });
  function panel() {
    const id = wish.selected;
    drawer.classList.toggle("open", Boolean(id));
    if (!id) return drawer.replaceChildren();
    const close = h("button.close", { type: "button", "aria-label": "Close", title: "Close (Esc)", onclick: () => { select(null); canvas.focus(); } }, "×");
    const group = id.startsWith("group:") && now.nodes[now.number.get(id)];
    if (group) {
      return fill(drawer, close, h("h2", group.key), h("p.kind", plural(group.members.length, group.members[0].kind)),
        h("button.main", { type: "button", onclick: () => open(group.key) }, "Open the group"),
        h("ul.links", group.members.slice(0, 200).map((box) => h("li", jump(box.id)))));
    }
    const box = whole.boxes.get(id);
    if (!box) return drawer.replaceChildren();
    fill(drawer, close, details(whole, box, { jump, link: options.link, nodeLink: options.nodeLink, run: run?.get(box.key), lock: options.locks?.get(box.key), drift: options.drift?.get(box.key) }));
    drawer.scrollTop = 0;
  }
  function jump(id) {
    const box = whole.boxes.get(id);
    return h("button.link", { type: "button", title: box.key, onclick: () => select(id, true) }, box.key);
  }

  const listing = h("button.tool.listing", { type: "button", title: "List of stacks", "aria-label": "Show or hide the list of stacks", onclick: () => { view.classList.toggle("listed"); resize(); } }, "☰");
  const tools = h("div.tools", listing,
    h("button.tool", { type: "button", title: "Zoom in (+)", "aria-label": "Zoom in", onclick: () => zoom(1.3) }, "+"),
    h("button.tool", { type: "button", title: "Zoom out (−)", "aria-label": "Zoom out", onclick: () => zoom(1 / 1.3) }, "−"),
    h("button.tool", { type: "button", title: "Fit all (f)", "aria-label": "Fit all", onclick: () => fit() }, "⤢"));
  const legend = h("details.legend", h("summary", "Legend"), h("ul",
    h("li", h("i.line.plain"), "depends_on"), h("li", h("i.line.dashed"), hosts.length ? "what is read: inferred" : "reads_state, inferred"), h("li", h("i.line.dotted"), "uses_module"),
    h("li", h("i.swatch.external"), "stack of another repository"),
    hosts.length ? h("li", h("i.swatch.host"), "node") : null,
    whole.affected ? h("li", [0, 1, 2, 3, 4, 5].map((wave) => h("i.swatch", { "data-wave": wave })), "affected, by wave") : null,
    options.locks ? h("li", h("i.swatch.locked"), "locked") : null, options.drift ? h("li", h("i.swatch.drifted"), "drifted") : null,
    h("li", h("kbd", "/"), "filter ", h("kbd", "f"), "fit ", h("kbd", "←→"), "along edges")));
  const view = h("section.graph", bar, opened, h("div.stage", side, h("div.field", canvas, empty, tools, legend, drawer)));
  if (matchMedia("(min-width: 1000px)").matches) view.classList.add("listed");

  const watcher = new ResizeObserver(resize);
  const themes = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => { paint.theme(); draw(); };
  themes.addEventListener("change", theme);
  queueMicrotask(() => {
    if (gone) return;
    watcher.observe(canvas);
    paint.theme();
    resize();
    build();
    if (wish.selected) { const id = wish.selected; wish.selected = null; select(id, true); }
  });
  return {
    element: view,
    wish,
    select: (id) => select(id, true),
    // For whoever checks the page: where a box is on the screen, and what the camera sees.
    place(id) { const i = spot(id), box = canvas.getBoundingClientRect(); if (i === undefined) return null; const at = now.at[i]; return { x: box.left + (at.x - cam.x) * cam.k, y: box.top + (at.y - cam.y) * cam.k, node: now.nodes[i].id }; },
    camera: () => ({ ...cam }),
    drawing: () => ({ boxes: now.nodes.map((node) => node.id), crossings: drawn.crossings, width: drawn.width, height: drawn.height, at: now.at }),
    close() { gone = true; watcher.disconnect(); themes.removeEventListener("change", theme); document.removeEventListener("keydown", keys); },
  };
}

// A canvas that is not in the document yet has no colours: the painter is made when it is first used.
function painterLater(canvas) {
  let made = null;
  const get = () => made ??= painter(canvas);
  return { theme: () => { get().theme(); }, colour: (name) => get().colour(name), curve: (...args) => get().curve(...args), arrow: (...args) => get().arrow(...args),
    box: (...args) => get().box(...args), get pen() { return get().pen; }, get colours() { return get().colours; } };
}
