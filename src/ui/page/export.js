// The page of one graph, from the data that stands in it.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { graph, affected } = data;
  const problems = graph.warnings.length;
  const read = () => { const at = decodeURIComponent(location.hash.slice(1)); return /^(stack|module|node):/.test(at) ? at : null; };
  const view = graphView(graph, {
    affected, look: { selected: read() },
    chosen: (id) => history.replaceState(null, "", id && !id.startsWith("group:") ? "#" + encodeURIComponent(id) : location.pathname + location.search),
  });
  addEventListener("hashchange", () => { if (read()) view.select(read()); });
  const warnings = problems ? h("details.warned", h("summary", plural(problems, "warning")), h("ul", graph.warnings.map((one) => h("li", one.message, one.at ? h("span.at", `${one.at.file}:${one.at.line}`) : null)))) : null;
  document.getElementById("page").append(h("header.top", h("span.brand", "suil"), h("h1", graph.repo || data.name || "stack graph"),
    graph.sha ? h("code.sha", { title: graph.sha }, graph.sha.slice(0, 10)) : null,
    affected ? h("span.note", plural(affected.affected.length, "stack") + " affected in " + plural(affected.waves.length, "wave")) : null,
    affected?.cycles?.length ? h("span.note.bad", "cycle: " + affected.cycles.map((cycle) => cycle.join(" → ")).join("; ")) : null,
    h("span.space"), warnings, h("span.note", { title: data.made }, data.version)), view.element);
  window.suil = { view, data };
})();
