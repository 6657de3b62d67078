// What is known of one box of the graph, for the drawer and for the page of a stack.
const chip = (text, colour) => h("span.chip", { "data-colour": colour ?? "quiet" }, text.replaceAll("_", " "));

function fact(name, ...value) {
  const shown = value.filter((one) => one !== null && one !== undefined && one !== "" && one !== false);
  return shown.length ? [h("dt", name), h("dd", ...shown)] : null;
}

const REASONS = {
  changed: "its own files changed", watch_path: "a file elsewhere that it reads changed", host_data: "data of hosts that it reads changed", module: "a module that it uses changed",
  reads_state: "it reads the state of an affected stack", dependent: "it depends on an affected stack", requested: "it was asked for by name",
};

function edgeList(title, edges, other, jump) {
  if (!edges.length) return null;
  const order = { depends_on: 0, reads_state: 1, reads_output: 2, reads_host_data: 3, uses_module: 4 };
  const sorted = edges.slice().sort((a, b) => order[a.type] - order[b.type] || (a[other] < b[other] ? -1 : 1));
  return h("section", h("h3", title, h("span.count", edges.length)), h("ul.edges", sorted.slice(0, 300).map((edge) => h("li",
    jump(edge[other]),
    h("span.how", h("i.line", { class: "line " + (edge.type === "uses_module" ? "dotted" : edge.inferred ? "dashed" : "plain") }), edge.type,
      edge.inferred ? " (inferred)" : "", edge.meta.ref ? h("span.ref", "@" + edge.meta.ref) : null),
    edge.at ? h("span.at", `${edge.at.file}:${edge.at.line}`) : null,
    edge.meta.fields ? h("span.at", edge.meta.fields.split(" ").join(", ")) : null,
    edge.meta.bucket ? h("span.at", `${edge.meta.bucket}/${edge.meta.key ?? ""}`) : null))),
    edges.length > 300 ? h("p.rest", `and ${edges.length - 300} more`) : null);
}

function details(whole, box, { jump, link, nodeLink, run, lock, drift }) {
  const { stack, module, host, touched } = box;
  const needs = whole.needs.get(box.id), users = whole.users.get(box.id);
  const about = whole.graph.warnings.filter((one) => one.subject === box.key || one.subject === stack?.path || one.subject === module?.path
    || one.subject.split(" -> ").includes(box.key));
  const kind = { stack: stack?.layer ? "layer" : "stack", external: "stack of another repository", module: (module?.kind ?? "") + " module", node: "node", unknown: "unknown" }[box.kind];
  return [
    h("p.kind", kind, box.environment ? [" in ", h("b", box.environment)] : null),
    h("h2", copied(box.key, "key")),
    box.kind === "unknown" ? h("p.warning", "No stack of this tree has this key.") : null,
    link && stack && !stack.external ? h("p", h("a.main", { href: link(box.key) }, "Open the stack")) : null,
    nodeLink && host ? h("p", h("a.main", { href: nodeLink(box.key) }, "Open the node")) : null,
    touched ? h("section.why", h("h3", "Affected ", h("span.badge", { "data-wave": touched.wave % 6 }, "wave " + touched.wave)),
      h("ul.plain", touched.reasons.map((reason) => h("li", chip(reason, "accent"), " ", REASONS[reason] ?? ""))),
      touched.via.length ? [h("h4", "via"), h("ul.plain", touched.via.map((key) => h("li", whole.boxes.has("stack:" + key) ? jump("stack:" + key) : whole.boxes.has("module:" + key) ? jump("module:" + key) : h("code", key))))] : null) : null,
    run ? h("section", h("h3", "In this run"), h("dl", fact("state", chip(run.state, STATES[run.state])), fact("wave", String(run.wave)),
      fact("reasons", (run.reasons ?? []).join(", ")), fact("blocked by", run.blocked_by))) : null,
    lock ? h("p.warning", `Locked by ${lock.who}, ${ago(lock.taken)}${lock.reason ? ": " + lock.reason : ""}`) : null,
    drift?.state === "drifted" ? h("p.warning", "Drifted since ", when(drift.since)) : null,
    about.length ? h("section", h("h3", "Warnings", h("span.count", about.length)), h("ul.plain.warnings", about.map((one) => h("li", one.message, one.at ? h("span.at", `${one.at.file}:${one.at.line}`) : null)))) : null,
    stack ? h("dl",
      fact("state", stack.state ? copied(stack.state, "state") : null), fact("folder", stack.layer ?? stack.path), fact("instance", stack.instance), fact("workspace", stack.workspace),
      fact("backend", stack.backend?.type), fact("tool", stack.tool ? `${stack.tool} ${stack.tool_version}`.trim() : null), fact("repository", stack.external ? stack.repo : null),
      fact("backend files", (stack.config?.backend_config ?? []).join(", ")), fact("var files", (stack.config?.var_files ?? []).join(", ")), fact("env names", (stack.config?.env ?? []).join(", ")),
      fact("watches", stack.watch_paths?.length ? h("ul.plain", stack.watch_paths.map((path) => h("li", h("code", path)))) : null)) : null,
    module ? h("dl", fact("kind", module.kind), fact("folder", module.path), fact("source", module.source), fact("version", module.ref)) : null,
    host ? h("dl", fact("role", host.role)) : null,
    edgeList("Depends on", needs.filter((edge) => edge.type !== "uses_module"), "to", jump),
    edgeList("Uses modules", needs.filter((edge) => edge.type === "uses_module"), "to", jump),
    edgeList(module ? "Used by" : "Depended on by", users, "from", jump),
  ];
}
