// A graph as the drawing needs it: boxes, edges between them, and who is near whom.
const nameOf = (key) => key.split("/").pop();
const folderOf = (path) => path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";

function model(graph, affected) {
  const touched = new Map((affected?.affected ?? []).map((one) => [one.key, one]));
  const boxes = new Map();
  for (const stack of graph.stacks) {
    boxes.set("stack:" + stack.key, {
      id: "stack:" + stack.key, kind: stack.external ? "external" : "stack", key: stack.key, label: nameOf(stack.key),
      sub: stack.external ? stack.repo : folderOf(stack.path), environment: stack.external ? "" : stack.environment,
      stack, touched: touched.get(stack.key) ?? null,
      words: [stack.key, stack.environment, stack.state ?? "", stack.tool, stack.repo].join("\n").toLowerCase(),
    });
  }
  for (const module of graph.modules) {
    boxes.set("module:" + module.key, {
      id: "module:" + module.key, kind: "module", key: module.key, label: nameOf(module.path || module.key),
      sub: module.kind === "local" ? folderOf(module.path) : module.kind + (module.ref ? " " + module.ref : ""),
      environment: "", module, touched: null, words: (module.key + "\n" + module.source).toLowerCase(),
    });
  }
  for (const node of graph.nodes ?? []) {
    const [label, ...domain] = node.key.split(".");
    boxes.set("node:" + node.key, {
      id: "node:" + node.key, kind: "node", key: node.key, label, sub: [node.role, domain.join(".")].filter(Boolean).join(" · "),
      environment: "", host: node, touched: null, words: (node.key + "\n" + node.role).toLowerCase(),
    });
  }
  const edges = [];
  for (const edge of graph.edges) {
    const from = edge.from.kind + ":" + edge.from.key, to = edge.to.kind + ":" + edge.to.key;
    if (!boxes.has(from)) continue;
    // An edge to what nobody knows has a box of its own: the reader is to see that something is missing.
    if (!boxes.has(to)) boxes.set(to, {
      id: to, kind: "unknown", key: edge.to.key, label: nameOf(edge.to.key), sub: "unknown", environment: "", touched: null,
      words: edge.to.key.toLowerCase(),
    });
    if (from !== to) edges.push({ from, to, type: edge.type, inferred: edge.inferred, meta: edge.meta ?? {}, at: edge.at });
  }
  const needs = new Map(), users = new Map();
  for (const id of boxes.keys()) { needs.set(id, []); users.set(id, []); }
  for (const edge of edges) { needs.get(edge.from).push(edge); users.get(edge.to).push(edge); }
  const environments = [...new Set([...boxes.values()].map((box) => box.environment).filter(Boolean))].sort();
  // The wave of each stack, where all are run.
  const stacks = [...boxes.values()].filter((box) => box.kind === "stack"), number = new Map(stacks.map((box, i) => [box.id, i]));
  const before = stacks.map((box) => needs.get(box.id).map((edge) => number.get(edge.to)).filter((i) => i !== undefined));
  layout.levels(stacks.length, before).forEach((wave, i) => { stacks[i].wave = wave; });
  // Neighbours in the list are far apart on the wheel.
  const hues = new Map(environments.map((name, i) => [name, Math.round(205 + i * 137.5) % 360]));
  const tone = (name, much, light) => hues.has(name) ? `hsl(${hues.get(name)} ${much}% ${light}%)` : "transparent";
  return { graph, affected, boxes, edges, needs, users, environments, tone };
}

// Everything that can be reached from a box along `next`, without the box.
function reached(id, next) {
  const seen = new Set([id]), queue = [id];
  while (queue.length) for (const other of next(queue.pop())) if (!seen.has(other)) { seen.add(other); queue.push(other); }
  seen.delete(id);
  return seen;
}

// The folders that make a big graph readable: as deep as possible while there are few of them.
function folders(stacks, most = 72) {
  const cut = (path, depth) => path.split("/").slice(0, depth).join("/");
  let best = 1;
  for (let depth = 1; depth <= 8; depth++) {
    const found = new Set(stacks.map((box) => cut(box.stack.path, depth)));
    if (found.size > most) break;
    best = depth;
    if (found.size === new Set(stacks.map((box) => box.stack.path)).size) break;
  }
  return (box) => cut(box.stack.path, best);
}

// The kinds that one may leave out, each by the wish that keeps it.
const ASIDE = { module: "modules", node: "nodes" };

// So many nodes are drawn one by one; more stand in groups by role.
const HOSTS = 24;

// What is drawn of a model: the boxes that the filter leaves, folded into groups where there are too many.
function scene(whole, wish) {
  const words = wish.text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (box) => words.every((word) => word.startsWith("-") && word.length > 1
    ? !box.words.includes(word.slice(1)) : box.words.includes(word))
    && (!wish.environment || box.environment === wish.environment)
    && (!wish.affected || box.touched);
  const chosen = new Set();
  for (const box of whole.boxes.values()) {
    const aside = ASIDE[box.kind];
    if (aside ? words.length && wish[aside] && !wish.affected && !wish.environment && fits(box) : fits(box)) chosen.add(box.id);
  }
  const filtered = words.length > 0 || wish.environment || wish.affected;
  const shown = new Set(chosen);
  if (!filtered || wish.near) for (const id of chosen) {
    for (const edge of whole.needs.get(id)) shown.add(edge.to);
    if (filtered) for (const edge of whole.users.get(id)) shown.add(edge.from);
  }
  if (wish.modules && (!filtered || wish.near)) {
    // Modules that modules use come with them.
    const queue = [...shown].filter((id) => whole.boxes.get(id).kind === "module");
    while (queue.length) for (const edge of whole.needs.get(queue.pop())) if (!shown.has(edge.to)) { shown.add(edge.to); queue.push(edge.to); }
    if (!filtered) for (const box of whole.boxes.values()) if (box.kind === "module") shown.add(box.id);
  }
  if (!filtered) for (const box of whole.boxes.values()) if (box.kind === "node") shown.add(box.id);
  for (const id of [...shown]) { const aside = ASIDE[whole.boxes.get(id).kind]; if (aside && !wish[aside]) shown.delete(id); }
  const boxes = [...shown].map((id) => whole.boxes.get(id));
  const stacks = boxes.filter((box) => box.kind === "stack");
  const grouping = wish.group === "auto" ? (stacks.length > 160 ? "folder" : "none") : wish.group;
  const folder = folders(stacks);
  const by = { none: null, folder, path: (box) => box.stack.path, environment: (box) => box.environment }[grouping];
  const groups = new Map(), into = new Map();
  if (by) for (const box of stacks) {
    const name = by(box);
    if (wish.open.has(name)) continue;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(box);
  }
  const hosts = boxes.filter((box) => box.kind === "node"), roles = new Map();
  if (hosts.length > HOSTS) for (const box of hosts) {
    const name = "role " + box.host.role;
    if (wish.open.has(name)) continue;
    if (!roles.has(name)) roles.set(name, []);
    roles.get(name).push(box);
  }
  const nodes = boxes.filter((box) => box.kind !== "stack" && box.kind !== "node");
  for (const box of hosts) {
    const name = "role " + box.host.role;
    if (roles.get(name)?.length > 1) into.set(box.id, "group:" + name); else nodes.push(box);
  }
  for (const [name, members] of roles) if (members.length > 1) nodes.push({
    id: "group:" + name, kind: "group", key: name, label: members[0].host.role, sub: "role", members, environment: "", touched: null, words: "",
  });
  for (const box of stacks) {
    const group = by && groups.get(by(box));
    if (group && group.length > 1) into.set(box.id, "group:" + by(box)); else nodes.push(box);
  }
  for (const [name, members] of groups) if (members.length > 1) nodes.push({
    id: "group:" + name, kind: "group", key: name, label: grouping === "environment" ? name : nameOf(name) || name,
    sub: grouping === "environment" ? "environment" : folderOf(name), members, environment: "", touched: null, words: "",
  });
  nodes.sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
  const number = new Map(nodes.map((node, i) => [node.id, i]));
  const place = (id) => number.get(into.get(id) ?? id);
  const edges = new Map();
  for (const edge of whole.edges) {
    if (!shown.has(edge.from) || !shown.has(edge.to)) continue;
    const from = place(edge.from), to = place(edge.to);
    if (from === undefined || to === undefined || from === to) continue;
    const key = from + "/" + to + "/" + edge.type;
    const known = edges.get(key);
    if (known) { known.count++; known.inferred &&= edge.inferred; } else edges.set(key, { ...edge, from, to, count: 1 });
  }
  return { nodes, edges: [...edges.values()], number, place, chosen, stacks, hosts: hosts.length, grouping, filtered, shown };
}
