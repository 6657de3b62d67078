// The page of `suil serve`: what the API says, as views one can link to.
(() => {
  const main = h("main.view", { tabindex: -1 });
  const live = h("p.offscreen", { "aria-live": "polite" });
  let overview = null, current = null, serial = 0;
  const looks = { graph: {} };

  class Failed extends Error {}
  async function api(path) {
    let response;
    try { response = await fetch("/v1/" + path, { headers: { Accept: "application/json" } }); }
    catch { throw new Failed("The server does not answer. Is `suil serve` still running?"); }
    if (response.status === 401) { location.assign("/login"); throw new Failed("You are logged out."); }
    const text = await response.text();
    let value;
    try { value = JSON.parse(text); } catch { throw new Failed("The server gave no JSON."); }
    if (!response.ok) throw Object.assign(new Failed(value.message ?? "It failed."), { details: value.details ?? [], status: response.status });
    return { value, text };
  }
  const part = encodeURIComponent;
  const query = (pairs) => { const text = Object.entries(pairs).filter(([, value]) => value).map(([name, value]) => part(name) + "=" + part(value)).join("&"); return text ? "?" + text : ""; };

  // --- pieces

  const link = { stack: (key) => "#/stacks/" + part(key), run: (id) => "#/runs/" + part(id), node: (name) => "#/nodes/" + part(name), nodeRun: (id) => "#/node-runs/" + part(id) };
  const stackLink = (key) => h("a", { href: link.stack(key) }, key);
  // One end of an edge.
  const end = ({ kind, key }) => kind === "stack" ? stackLink(key) : h("a", { href: kind === "node" ? link.node(key) : "#/modules/" + part(key) }, key);
  const shortId = (id) => id.length > 13 ? id.slice(0, 8) + "…" + id.slice(-4) : id;
  const runLink = (id) => h("a.id", { href: link.run(id), title: id }, shortId(id));
  const stateChip = (state) => chip(state, STATES[state] ?? { clean: "good", drifted: "bad", pass: "good", fail: "bad", warn: "warn", superseded: "quiet", unconfirmed: "warn",
    ended: "good", going: "busy", unfinished: "warn", broken: "bad", done: "good", "nothing to do": "quiet", "in doubt": "warn", "not reached": "bad", "not applied": "quiet" }[state] ?? "quiet");
  const tile = (label, value, note, href, tone) => h(href ? "a.tile" : "div.tile", { href: href ?? null, "data-colour": tone ?? null }, h("span.label", label), h("span.value", value ?? "–"), note ? h("span.sub", note) : null);
  const head = (title, ...more) => h("header.head", h("h1", title), ...more);
  const nothing = (text, hint) => h("div.empty", h("p", text), hint ? h("p", h("code", hint)) : null);
  const problems = (list) => (list ?? []).map((one) => h("div.problem", h("b", one.what), one.file ? h("span.at", `${one.file}:${one.line}:${one.column}`) : null, one.expected ? h("p", one.expected) : null,
    (one.notes ?? []).map((note) => h("p.note", note.text)), one.help ? h("p.note", one.help) : null));
  const SIGNS = [["adds", "+", "good"], ["changes", "~", "warn"], ["replaces", "±", "warn"], ["destroys", "−", "bad"], ["imports", "⇣", "accent"], ["moves", "→", "quiet"]];
  function sums(summary) {
    if (!summary) return null;
    const some = SIGNS.filter(([name]) => summary[name]).map(([name, sign, tone]) => h("span.sum", { "data-colour": tone, title: name }, sign + summary[name]));
    if (summary.output_changes) some.push(h("span.sum", { "data-colour": "quiet", title: "outputs" }, plural(summary.output_changes, "output")));
    return some.length ? h("span.sums", some) : h("span.muted", "no changes");
  }
  function addresses(found) {
    const some = SIGNS.filter(([name]) => found?.[name]?.length);
    return some.length ? h("ul.addresses", some.flatMap(([name, sign, tone]) => found[name].slice(0, 400).map((address) => h("li", h("b", { "data-colour": tone }, sign), h("code", address))))) : null;
  }
  function counted(counts) {
    const all = Object.entries(counts ?? {}), total = all.reduce((sum, [, n]) => sum + n, 0);
    if (!total) return h("span.muted", "no stacks");
    return h("span.bar-of", { title: all.map(([state, n]) => `${n} ${state}`).join(", ") },
      h("span.strip", all.map(([state, n]) => { const piece = h("i", { "data-colour": STATES[state] ?? "quiet" }); piece.style.flexGrow = n; return piece; })),
      h("span.muted", all.map(([state, n]) => `${n} ${state}`).join(", ")));
  }
  function table(columns, rows) {
    return h("div.sheet", h("table", h("thead", h("tr", columns.map((column) => h("th", { scope: "col" }, column)))), h("tbody", rows.map((cells) => h("tr", cells.map((cell, i) => h("td", { "data-label": columns[i] }, cell)))))));
  }
  const row = (...facts) => h("dl.row", facts.filter(Boolean).map((pair) => h("div", pair)));
  const command = (text) => h("p.command", copied(text, "command"));

  // A list that grows page by page.
  function paged(path, key, filters, build, none) {
    return async () => {
      const first = await api(path + query(filters()));
      return { text: first.text, soon: first.value.looked_up === null, build: () => {
        const host = h("div"), value = first.value;
        if (!value[key].length) return none();
        host.append(build(value[key], value));
        let next = value.next;
        const more = h("button.main.quiet", { type: "button", onclick: async () => {
          more.disabled = true;
          try { const page = (await api(path + query({ ...filters(), cursor: next }))).value; host.querySelector("tbody").append(...build(page[key], page).querySelectorAll("tbody tr")); next = page.next; more.hidden = !next; }
          catch (error) { host.append(failure(error)); }
          more.disabled = false;
        } }, "Show more");
        more.hidden = !next;
        host.append(more);
        return host;
      } };
    };
  }
  const failure = (error) => h("div.problem", { role: "alert" }, h("b", error instanceof Failed ? error.message : "This view broke: " + error.message), (error.details ?? []).slice(1).map((line) => h("p.note", line)));

  // --- views: each gives {title, load} and load gives {text, build}; the same text is not built again

  const runRows = (runs) => table(["Run", "What", "State", "Stacks", "By", "Started", "Took"], runs.map((run) => [runLink(run.id), run.mode, stateChip(run.state), counted(run.stacks),
    h("span", run.who, run.reason ? h("small", run.reason) : null), when(run.started), took(run.started, run.ended)]));
  const nodeRunRows = (runs) => table(["Run", "What", "State", "Nodes", "By", "Started"], runs.map((run) => [h("a.id", { href: link.nodeRun(run.id) }, run.id), run.mode || "–", stateChip(run.problem ? "broken" : run.state),
    h("span", Object.entries(run.counts ?? {}).map(([word, n]) => [h("span.tally", stateChip(word), " ", n), " "])), h("span", run.by ?? "", h("small", run.reason || run.command || run.problem || "")), when(run.started)]));
  const lockRows = (locks) => table(["Stack", "Held by", "Since", "Run", "Process", "Reason"], locks.map((lock) => [stackLink(lock.stack), lock.who, when(lock.taken), runLink(lock.run),
    h("span", `${lock.process.pid} on ${lock.process.host} `, chip(lock.process.life === "gone" ? "gone" : lock.process.life, { alive: "good", gone: "warn" }[lock.process.life])), lock.reason || "–"]));
  const driftRows = (rows) => table(["Stack", "State", "Difference", "Since", "Looked at"], rows.map((one) => [stackLink(one.stack), stateChip(one.state), one.error ? h("small", one.error.split("\n")[0]) : sums(one.summary), when(one.since), when(one.at)]));

  const views = {
    async overview() {
      const { value, text } = await api("overview");
      overview = value;
      return { text, build() {
        const { infra, hosts } = value, stacks = infra.stacks ?? 0;
        const seen = stacks > 0 || infra.problems.length || infra.runs.length || infra.locks.count;
        return h("div", head(infra.repo || value.name, infra.sha ? h("code.sha", { title: infra.sha }, infra.sha.slice(0, 10)) : null),
          problems(infra.problems), problems(hosts?.problems),
          infra.cycles ? h("div.problem", h("b", `${plural(infra.cycles, "cycle")} in the graph: these stacks cannot be ordered.`), " ", h("a", { href: "#/graph" }, "See the graph")) : null,
          h("div.tiles",
            seen ? tile("Stacks", stacks, infra.environments ? plural(infra.environments, "environment") + ", " + plural(infra.waves, "wave") : null, "#/graph") : null,
            seen ? tile("Drifted", infra.drift.count, infra.drift.looked_at ? `of ${infra.drift.looked_at} looked at` : "never looked", "#/drift", infra.drift.count ? "bad" : null) : null,
            seen ? tile("Locked", infra.locks.count, infra.locks.left_over ? `${infra.locks.left_over} left over` : null, "#/locks", infra.locks.left_over ? "warn" : null) : null,
            seen ? tile("Modules", infra.modules, infra.warnings ? plural(infra.warnings, "warning") : null, "#/modules") : null,
            hosts ? tile("Nodes", hosts.nodes, hosts.never_read ? `${hosts.never_read} never read` : null, "#/nodes") : null,
            hosts ? tile("Failed nodes", hosts.failed, "in their last run", "#/nodes", hosts.failed ? "bad" : null) : null),
          infra.drift.first.length ? h("section", h("h2", "Drifted stacks"), driftRows(infra.drift.first)) : null,
          infra.locks.first.length ? h("section", h("h2", "Locks"), lockRows(infra.locks.first)) : null,
          hosts?.first.length ? h("section", h("h2", "Nodes that failed"), nodeRows(hosts.first)) : null,
          seen ? h("section", h("h2", "Runs over stacks"), infra.runs.length ? runRows(infra.runs) : nothing("No run yet.", "suil infra plan --all")) : null,
          hosts ? h("section", h("h2", "Runs over nodes"), hosts.runs.length ? nodeRunRows(hosts.runs) : nothing("No run yet.", "suil apply --dry-run --node '*'")) : null,
          !seen && !hosts ? nothing("There are no stacks and no nodes here.") : null);
      } };
    },

    graph: { whole: true, async load(_, asked) {
      const { value, text } = await api("repos/-/-/graph" + query({ run: asked.get("run"), ref: asked.get("ref") }));
      return { text, build: () => drawing(value, asked), same: (other) => other.value.tree_hash === value.tree_hash && JSON.stringify([other.value.nodes, other.value.edges.length]) === JSON.stringify([value.nodes, value.edges.length]) && JSON.stringify(other.value.run) === JSON.stringify(value.run), value };
    } },

    runs: listView("Runs", () => [
      selector("Mode", "mode", ["plan", "apply", "destroy", "drift"]), selector("State", "state", ["planning", "planned", "applying", "applied", "failed", "superseded"])],
      () => paged("runs", "runs", () => filters("mode", "state"), runRows, () => nothing("No run fits.", "suil infra plan --all"))()),

    async run(id) {
      const { value, text } = await api("runs/" + part(id));
      return { text, title: value.mode + " " + shortId(id), build: () => runPage(value), done: ["applied", "failed", "superseded", "unconfirmed"].includes(value.state) };
    },

    stacks: listView("Stacks", () => [searcher("Filter stacks", "q")],
      () => paged("repos/-/-/stacks", "stacks", () => filters("q"), (stacks) => table(["Stack", "Environment", "Wave", "State", "Drift", "Lock"], stacks.map((stack) => [stackLink(stack.key), stack.environment, stack.wave ?? "–",
        stack.state ? h("code", stack.state) : h("span.muted", "not known"), stack.drift ? stateChip(stack.drift.state) : h("span.muted", "–"), stack.lock ? chip(stack.lock.who, "warn") : h("span.muted", "–")])), () => nothing("No stack fits."))()),

    async stack(key) {
      const { value, text } = await api("stacks/" + part(key));
      return { text, title: value.key, build: () => stackPage(value) };
    },

    locks: listView("Locks", () => [], () => paged("locks", "locks", () => ({}), lockRows, () => nothing("No stack is locked."))(),
      () => h("p.hint", "This page only looks. A lock whose process is gone is taken up by ", h("code", "suil infra resume"), " or taken away by ", h("code", "suil infra unlock KEY --reason TEXT"), ".")),

    drift: listView("Drift", () => [selector("State", "state", ["drifted", "clean", "failed"])], () => paged("drift", "drift", () => filters("state"), driftRows, () => nothing("Nobody has looked for drift yet, or nothing fits.", "suil infra drift --all"))()),

    modules: listView("Modules", () => [searcher("Filter modules", "q"), selector("Kind", "kind", ["local", "git", "registry"])],
      () => paged("modules", "modules", () => filters("q", "kind"), (modules) => table(["Module", "Kind", "Pinned", "Newest", "Behind", "Used by"], modules.map((module) => [
        h("a", { href: "#/modules/" + part(module.key) }, module.key), module.kind, module.ref ? h("code", module.ref) : h("span.muted", "–"),
        module.latest ? h("code", module.latest) : h("span.muted", module.kind === "local" ? "–" : (module.standing ?? "not_looked_up").replaceAll("_", " ")),
        module.behind ? chip(plural(module.behind, "release"), "warn") : module.standing === "current" ? chip("newest", "good") : h("span.muted", "–"),
        plural(module.stacks, "stack") + (module.modules ? ", " + plural(module.modules, "module") : "")])), () => nothing("No module fits."))()),

    async module(id) {
      const { value, text } = await api("modules/" + part(id));
      return { text, title: value.key, build: () => h("div", head(copied(value.key, "key"), h("span.note", value.kind + " module"), h("a.main.quiet", { href: "#/graph?" + "select=" + part("module:" + value.key) }, "On the graph")),
        h("dl", fact("source", value.source), fact("folder", value.kind === "local" ? value.path : null), fact("pinned", value.ref), fact("newest", value.latest), fact("behind", value.behind ? plural(value.behind, "release") : null)),
        h("section", h("h2", "Used by ", h("span.count", value.used_by.length)), value.used_by.length ? table(["Who", "As", "Where"], value.used_by.map((edge) => [end(edge.from), h("code", edge.meta.source ?? ""), edge.at ? h("code", `${edge.at.file}:${edge.at.line}`) : ""])) : nothing("Nobody uses it.")),
        value.uses.length ? h("section", h("h2", "Uses ", h("span.count", value.uses.length)), table(["Module", "Where"], value.uses.map((edge) => [end(edge.to), edge.at ? h("code", `${edge.at.file}:${edge.at.line}`) : ""]))) : null) };
    },

    nodes: listView("Nodes", () => [searcher("Filter nodes", "q")], () => paged("nodes", "nodes", () => filters("q"), nodeRows, () => nothing("No node fits."))()),

    async node(name) {
      const { value, text } = await api("nodes/" + part(name));
      return { text, title: name, build: () => h("div", head(copied(value.name, "name"), value.last_run ? stateChip(value.last_run.outcome) : null),
        h("dl", fact("role", value.role), fact("system", value.family ? `${value.family} ${value.release ?? ""}` : "never probed"), fact("facts read", when(value.facts)), fact("file", h("code", value.file))),
        (value.last_run?.problems ?? []).map((text) => h("div.problem", text)),
        [["Reads outputs of", value.depends_on, "to"], ["Read by", value.depended_on_by, "from"]].map(([title, list, other]) => list.length ? h("section", h("h2", title, " ", h("span.count", list.length)),
          table(["Stack", "What", "Where"], list.map((edge) => [end(edge[other]), h("code", (edge.meta.fields ?? "").split(" ").join(", ")), edge.at ? h("code", `${edge.at.file}:${edge.at.line}`) : ""]))) : null),
        h("section", h("h2", "Runs"), value.runs.length ? table(["Run", "What", "Outcome", "Operations", "By", "Started"], value.runs.map((run) => [h("a.id", { href: link.nodeRun(run.id) }, run.id), run.mode || "–", stateChip(run.outcome), run.operations, run.by ?? "", when(run.started)])) : nothing("No run had it."))) };
    },

    async nodeRun(id) {
      const { value, text } = await api("node-runs/" + part(id));
      return { text, title: id, build: () => nodeRunPage(value), done: value.run.state !== "going" };
    },

    audit: listView("Audit", () => [], () => paged("audit", "audit", () => ({}), (entries) => table(["When", "Who", "What", "Stack", "Run", "Reason"], entries.map((entry) => [when(entry.at), entry.who, chip(entry.action, { unlock: "warn", destroy: "bad", apply: "accent" }[entry.action]),
      entry.stack ? stackLink(entry.stack) : "", entry.run ? runLink(entry.run) : "", entry.reason])), () => nothing("Nothing was written down yet."))()),
  };

  function nodeRows(nodes) {
    return table(["Node", "Role", "System", "Facts", "Last run", "Outcome"], nodes.map((node) => [h("a", { href: link.node(node.name) }, node.name), node.role, node.family ? `${node.family} ${node.release ?? ""}` : h("span.muted", "not probed"),
      node.facts ? when(node.facts) : h("span.muted", "never"), node.last_run ? h("a", { href: link.nodeRun(node.last_run.id) }, when(node.last_run.started)) : h("span.muted", "–"),
      node.last_run ? h("span", stateChip(node.last_run.outcome), node.last_run.operations ? h("small", plural(node.last_run.operations, "operation")) : null) : ""]));
  }

  // Filters of a list live in its address.
  function filters(...names) { const { asked } = route(); return Object.fromEntries(names.map((name) => [name, asked.get(name) ?? ""])); }
  function set(name, value) { const { path, asked } = route(); if (value) asked.set(name, value); else asked.delete(name); const text = asked.toString(); history.replaceState(null, "", "#/" + path.map(part).join("/") + (text ? "?" + text : "")); refresh(true); }
  function selector(label, name, values) {
    const now = filters(name)[name];
    const select = h("select", { "aria-label": label, onchange: () => set(name, select.value) }, h("option", { value: "" }, label + ": all"), values.map((value) => h("option", { value, selected: value === now }, value)));
    return select;
  }
  function searcher(label, name) {
    let timer = 0;
    const input = h("input", { type: "search", placeholder: label, "aria-label": label, value: filters(name)[name], oninput: () => { clearTimeout(timer); timer = setTimeout(() => set(name, input.value), 200); } });
    return input;
  }
  function listView(title, controls, load, hint) { return { title, frame: () => [head(title, h("span.space"), controls()), hint?.()], load }; }

  // --- pages

  function runPage(run) {
    const waves = new Map();
    for (const stack of run.stacks) { if (!waves.has(stack.wave)) waves.set(stack.wave, []); waves.get(stack.wave).push(stack); }
    const drawer = h("aside.drawer.fixed", { "aria-label": "Details of a stack" });
    const cards = new Map();
    async function open(stack, keep) {
      looks.run = { id: run.id, stack: stack?.stack ?? null };
      for (const [key, card] of cards) card.setAttribute("aria-expanded", String(key === stack?.stack));
      drawer.classList.toggle("open", Boolean(stack));
      if (!stack) return drawer.replaceChildren();
      const words = h("div.plans");
      fill(drawer, h("button.close", { type: "button", "aria-label": "Close", onclick: () => { open(null); cards.get(stack.stack)?.focus(); } }, "×"),
        h("p.kind", "wave ", stack.wave, stack.environment ? [" in ", h("b", stack.environment)] : null), h("h2", stackLink(stack.stack)), h("p", stateChip(stack.state), " ", h("span.muted", took(stack.started, stack.ended))),
        stack.blocked_by ? h("p.warning", "Blocked by ", stackLink(stack.blocked_by)) : null,
        h("section", h("h3", "Why"), stack.reasons.length ? h("ul.plain", stack.reasons.map((reason) => h("li", chip(reason, "accent"), " ", REASONS[reason] ?? ""))) : h("p.muted", "nobody said"),
          stack.via.length ? [h("h4", "via"), h("ul.plain", stack.via.map((key) => h("li", h("code", key))))] : null),
        stack.checks.length ? h("section", h("h3", "Checks"), h("ul.plain", stack.checks.map((check) => h("li", stateChip(check.state), " ", h("b", check.name), " ", check.summary, check.details ? h("details", h("summary", "details"), h("pre", check.details)) : null)))) : null,
        stack.phases.map((phase) => h("section", h("h3", phase.phase, " ", h("span.muted", took(phase.started, phase.ended))), phase.error ? h("pre.error", phase.error) : h("p", sums(phase.summary)), addresses(phase.addresses),
          phase.unknown?.length ? h("p.warning", "Provisional: not known yet are ", phase.unknown.join(", ")) : null, phase.digest ? h("p.muted", "plan file ", h("code", phase.digest.slice(0, 12))) : null)), words);
      if (!keep) drawer.scrollTop = 0;
      for (const phase of stack.phases) {
        try {
          const { value } = await api(`runs/${part(run.id)}/stacks/${part(stack.stack)}/plan` + query({ phase: phase.phase }));
          if (looks.run.stack === stack.stack) words.append(h("section", h("h3", "Text of the " + phase.phase), planText(value.text)));
        } catch (error) { if (error.status !== 404) words.append(failure(error)); }
      }
    }
    const card = (stack) => {
      const last = stack.phases[stack.phases.length - 1];
      const button = h("button.card", { type: "button", "data-colour": STATES[stack.state] ?? "quiet", "aria-expanded": "false", onclick: () => open(stack) }, h("span.name", nameOf(stack.stack), h("small", folderOf(stack.stack))),
        h("span.foot", stateChip(stack.state), last && !last.error ? sums(last.summary) : null, stack.checks.some((check) => check.state === "fail") ? chip("check failed", "bad") : null));
      cards.set(stack.stack, button);
      return button;
    };
    const page = h("div", head([run.mode, " ", h("span.id", shortId(run.id))], stateChip(run.state), h("span.space"), h("a.main.quiet", { href: "#/graph?run=" + part(run.id) }, "On the graph")),
      row(fact("run", copied(run.id, "id")), fact("by", run.who), fact("began by", run.trigger), fact("started", when(run.started)), fact("took", took(run.started, run.ended)), fact("commit", run.commit ? h("code", { title: run.commit }, run.commit.slice(0, 10)) : null),
        fact("reason", run.reason), fact("process", run.ended ? null : `${run.process.pid} on ${run.process.host} (${run.process.life})`), fact("followed by", run.successor ? runLink(run.successor) : null)),
      h("p", counted(run.counts)),
      !run.ended && run.process.life === "gone" ? h("div.problem", h("b", "Its process is gone."), command("suil infra resume " + run.id)) : null,
      h("div.waves", [...waves].sort((a, b) => a[0] - b[0]).map(([wave, stacks]) => h("section.wave", h("h3", "wave ", wave, h("span.count", stacks.length)), stacks.map(card)))), drawer);
    if (looks.run?.id === run.id && looks.run.stack) { const stack = run.stacks.find((one) => one.stack === looks.run.stack); if (stack) open(stack, true); } else looks.run = null;
    return page;
  }

  // The text of a plan, coloured by the first sign of each line.
  function planText(text) {
    const lines = text.split("\n"), most = 3000;
    return h("pre.plan", lines.slice(0, most).map((line) => { const sign = /^\s*(\+\/-|-\/\+|[+~-])\s/.exec(line)?.[1]; return h("span", { "data-colour": sign ? { "+": "good", "-": "bad", "~": "warn" }[sign] ?? "warn" : null }, line + "\n"); }),
      lines.length > most ? h("span.muted", `… ${lines.length - most} more lines`) : null);
  }

  function stackPage(stack) {
    const edges = (title, list, other, none) => h("section", h("h2", title, " ", h("span.count", list.length)), list.length ? table(["What", "How", "Where"], list.map((edge) => [end(edge[other]), h("span", h("i", { class: "line " + (edge.type === "uses_module" ? "dotted" : edge.inferred ? "dashed" : "plain") }), edge.type + (edge.inferred ? " (inferred)" : "")),
      edge.at ? h("code", `${edge.at.file}:${edge.at.line}`) : ""])) : h("p.muted", none));
    const last = (phase) => { const one = stack.last[phase]; return one ? tile("Last " + phase, one.error ? "failed" : SIGNS.map(([name, sign]) => one.summary[name] ? sign + one.summary[name] : "").filter(Boolean).join(" ") || "no changes", ago(one.ended), link.run(one.run), one.error ? "bad" : null) : tile("Last " + phase, "never"); };
    return h("div", head(copied(stack.key, "key"), stack.environment ? h("span.note", stack.environment) : null, stack.lock ? chip("locked", "warn") : null, stack.drift ? stateChip(stack.drift.state) : null, h("span.space"), h("a.main.quiet", { href: "#/graph?select=" + part("stack:" + stack.key) }, "On the graph")),
      stack.seen?.removed_at ? h("div.problem", h("b", "It is gone from the tree"), " since ", when(stack.seen.removed_at), ". Its state may still be there.", command("suil infra destroy --removed --stacks " + stack.key)) : null,
      stack.lock ? h("div.problem", h("b", `Locked by ${stack.lock.who}`), " ", when(stack.lock.taken), stack.lock.reason ? ": " + stack.lock.reason : "", " in run ", runLink(stack.lock.run), stack.lock.process.life === "gone" ? command(`suil infra unlock ${stack.key} --reason TEXT`) : null) : null,
      (stack.warnings ?? []).map((one) => h("p.warning", one.message, one.at ? h("span.at", `${one.at.file}:${one.at.line}`) : null)),
      h("div.tiles", last("plan"), last("apply"), stack.last.destroy ? last("destroy") : null, tile("Drift", stack.drift?.state ?? "never looked", stack.drift ? ago(stack.drift.at) : null, null, stack.drift?.state === "drifted" ? "bad" : null), tile("Wave", stack.wave ?? "–", "of the whole graph")),
      h("dl", fact("state", stack.state ? copied(stack.state, "state") : stack.seen?.state ? copied(stack.seen.state, "state") : null), fact("folder", stack.layer ?? stack.path), fact("instance", stack.instance), fact("workspace", stack.workspace), fact("backend", stack.backend?.type ?? stack.seen?.backend),
        fact("tool", stack.tool ? `${stack.tool} ${stack.tool_version}`.trim() : null), fact("var files", (stack.config?.var_files ?? []).join(", ")), fact("watches", (stack.watch_paths ?? []).join(", ")), fact("first seen", stack.seen ? when(stack.seen.first_seen) : null)),
      edges("Depends on", stack.depends_on.filter((edge) => edge.type !== "uses_module"), "to", "Nothing: it comes in the first wave."),
      edges("Depended on by", stack.depended_on_by, "from", "Nobody depends on it."),
      stack.depends_on.some((edge) => edge.type === "uses_module") ? edges("Modules", stack.depends_on.filter((edge) => edge.type === "uses_module"), "to", "") : null,
      h("section", h("h2", "Runs"), stack.runs.length ? runRows(stack.runs) : nothing("No run had it yet.")),
      stack.drift_history.length ? h("section", h("h2", "Looks for drift"), driftRows(stack.drift_history)) : null);
  }

  function nodeRunPage({ run, nodes }) {
    const operations = (node) => node.operations.length ? h("details", h("summary", plural(node.operations.length, "operation")), h("ul.plain.ops", node.operations.map((one) => h("li", stateChip(one.status ?? "planned"), " ", one.title, one.problem ? h("small", one.problem) : null)))) : h("span.muted", "none");
    return h("div", head(h("span.id", run.id), stateChip(run.state)), row(fact("what", run.mode), fact("by", run.by), fact("command", run.command ? h("code", run.command) : null), fact("reason", run.reason), fact("started", when(run.started)), fact("took", run.seconds === null ? null : run.seconds.toFixed(1) + " s"), fact("commit", typeof run.commit === "string" ? h("code", run.commit.slice(0, 10)) : null)),
      run.problems.map((text) => h("div.problem", text)),
      h("section", h("h2", "Nodes ", h("span.count", nodes.length)), nodes.length ? table(["Node", "Role", "Outcome", "Operations"], nodes.map((node) => [h("a", { href: link.node(node.node) }, node.node), node.role ?? "", h("span", stateChip(node.outcome ?? "–"), (node.problems ?? []).map((text) => h("small", text))), operations(node)])) : nothing("It had no nodes.")));
  }

  function drawing(graph, asked) {
    const run = graph.run ? new Map(graph.run.stacks.map((stack) => [stack.stack, stack])) : null;
    const look = { ...looks.graph, selected: asked.get("select") ?? looks.graph.selected ?? null };
    if (asked.get("q") !== null) look.text = asked.get("q");
    const view = graphView(graph, { run, look, link: link.stack, nodeLink: link.node, locks: new Map(graph.locks.map((lock) => [lock.stack, lock])), drift: new Map(graph.drift.map((one) => [one.stack, one])),
      chosen: (id) => { const kept = new URLSearchParams(); for (const name of ["run", "ref"]) if (asked.get(name)) kept.set(name, asked.get(name)); if (id && !id.startsWith("group:")) kept.set("select", id); const text = kept.toString(); history.replaceState(null, "", "#/graph" + (text ? "?" + text : "")); } });
    looks.graph = view.wish;
    current.close = () => view.close();
    window.suil = { view, graph };
    const ref = asked.get("ref"), then = graph.run?.commit;
    const at = ref ? h("span", "at ", h("code", { title: graph.sha }, ref.slice(0, 40)), " ", h("a", { href: "#/graph" + query({ run: asked.get("run") }) }, "Back to the present"))
      : typeof then === "string" && then ? h("a", { href: "#/graph" + query({ run: graph.run.id, ref: then }) }, "As the tree was then") : null;
    const banner = graph.run ? h("div.banner", h("span", graph.run.mode, " ", runLink(graph.run.id)), stateChip(graph.run.state), counted(graph.run.stacks.reduce((sum, one) => ({ ...sum, [one.state]: (sum[one.state] ?? 0) + 1 }), {})), h("span.space"), at, h("a", { href: "#/graph" }, "Leave the run"))
      : ref ? h("div.banner", at)
      : graph.cycles.length ? h("div.banner.bad", "Cycle: " + graph.cycles.map((cycle) => cycle.join(" → ")).join("; ")) : null;
    return h("div.whole", banner, view.element);
  }

  // --- routes

  function route() {
    const [path, rest] = location.hash.replace(/^#\/?/, "").split("?");
    const words = path.split("/").filter(Boolean).map((word) => { try { return decodeURIComponent(word); } catch { return word; } });
    return { path: words, asked: new URLSearchParams(rest ?? "") };
  }
  function target() {
    const { path: [first, second], asked } = route();
    const detail = { runs: "run", stacks: "stack", modules: "module", nodes: "node", "node-runs": "nodeRun" };
    if (second && detail[first]) return { name: detail[first], tab: first === "node-runs" ? "nodes" : first, argument: second, asked };
    const name = first === undefined ? "overview" : first;
    return { name: views[name] && !Object.values(detail).includes(name) ? name : null, tab: first ?? "", argument: null, asked };
  }

  async function go() {
    const aim = target(), mine = ++serial;
    current?.close?.();
    current = { aim, text: null, body: h("div.body"), built: null };
    if (aim.name !== "run") looks.run = null;
    for (const tab of tabs.querySelectorAll("a")) tab.toggleAttribute("aria-current", tab.getAttribute("href") === "#/" + aim.tab);
    tabs.querySelector("[aria-current]")?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
    const view = views[aim.name];
    main.classList.toggle("edge", Boolean(view?.whole));
    fill(main, view?.frame?.(), current.body);
    main.scrollTop = 0;
    document.title = (view?.title ?? aim.argument ?? aim.name ?? "suil") + " · suil";
    if (!aim.name) return fill(current.body, nothing("There is no such page."));
    const waiting = setTimeout(() => { if (mine === serial && !current.text) fill(current.body, h("p.empty", "Loading…")); }, 250);
    await refresh(true);
    clearTimeout(waiting);
    if (mine === serial) live.textContent = document.title;
  }

  async function refresh(force) {
    const mine = serial, own = current, { aim } = own, view = views[aim.name];
    if (!aim.name) return;
    try {
      const made = await (typeof view === "function" ? view(aim.argument, aim.asked) : view.load(aim.argument, aim.asked));
      if (mine !== serial) return;
      lost.hidden = true;
      own.finished = made.done;
      // What the server looks up meanwhile is there in a moment.
      if (made.soon && (own.tries = (own.tries ?? 0) + 1) <= 5) setTimeout(() => { if (own === current) refresh(false); }, 1500);
      if (own.text === made.text || own.made?.same?.(made)) { if (!force || own.text === made.text) return; }
      if (made.title) document.title = made.title + " · suil";
      own.close?.();
      own.close = null;
      fill(own.body, made.build());
      own.text = made.text;
      own.made = made;
    } catch (error) {
      if (mine !== serial) return;
      if (!(error instanceof Failed)) console.error(error);
      if (own.text && error instanceof Failed && !error.status) { lost.hidden = false; return; }
      own.text = null;
      fill(own.body, failure(error));
    }
  }

  const TABS = [["", "Overview"], ["graph", "Graph"], ["stacks", "Stacks"], ["runs", "Runs"], ["locks", "Locks"], ["drift", "Drift"], ["modules", "Modules"], ["nodes", "Nodes"], ["audit", "Audit"]];
  const tabs = h("nav.tabs", { "aria-label": "Pages" }, TABS.map(([name, label]) => h("a", { href: "#/" + name }, label)));
  const lost = h("div.lost", { hidden: true, role: "status" }, "The server does not answer; what you see may be old.");
  const out = h("form", { method: "post", action: "/logout", hidden: true }, h("button.link", "Log out"));
  document.getElementById("page").append(h("header.top", h("a.brand", { href: "#/" }, "suil"), tabs, h("span.space"), out), lost, main, live);

  (async () => {
    try {
      overview = (await api("overview")).value;
      const { infra, hosts } = overview, stacks = infra.stacks || infra.problems.length || infra.runs.length || infra.locks.count;
      const hide = (name) => { tabs.querySelector(`[href="#/${name}"]`).hidden = true; };
      if (!stacks && hosts) ["graph", "stacks", "runs", "locks", "drift", "modules", "audit"].forEach(hide);
      if (!hosts) hide("nodes");
      out.hidden = !overview.token;
    } catch { /* The view says what is wrong. */ }
    addEventListener("hashchange", go);
    await go();
    setInterval(() => {
      for (const time of main.querySelectorAll("time[datetime]")) if (time.dateTime) time.textContent = ago(time.dateTime);
      if (!document.hidden && !current.finished) refresh(false);
    }, 10000);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(false); });
  })();
})();
