// Places the boxes of a layered drawing: what is needed stands left of who needs it. Pure: numbers in, numbers out.
const layout = (() => {
  const GAP_X = 84, GAP_Y = 12, BEND = 10, SUB_X = 18;

  // Longest paths over edges that order, and the edges that go round in a circle. Without recursion: a chain may be long.
  function levels(count, needs) {
    const level = new Int32Array(count), colour = new Uint8Array(count), back = new Set();
    for (let root = 0; root < count; root++) {
      if (colour[root]) continue;
      const path = [[root, 0]];
      colour[root] = 1;
      while (path.length) {
        const top = path[path.length - 1], own = needs[top[0]];
        if (top[1] < own.length) {
          const next = own[top[1]++];
          if (colour[next] === 0) { colour[next] = 1; path.push([next, 0]); }
          else if (colour[next] === 1) back.add(top[0] * count + next);
        } else {
          let longest = 0;
          for (const to of own) if (!back.has(top[0] * count + to)) longest = Math.max(longest, level[to] + 1);
          level[top[0]] = longest;
          colour[top[0]] = 2;
          path.pop();
        }
      }
    }
    return level;
  }

  // The column of each box. Modules, and what is elsewhere, stand left of the first wave.
  function columns(nodes, edges) {
    const needs = nodes.map(() => []), users = nodes.map(() => []);
    for (const edge of edges) {
      const own = nodes[edge.from].outside, other = nodes[edge.to].outside;
      if (!own && !other) needs[edge.from].push(edge.to);
      if (own && other) users[edge.to].push(edge.from);
    }
    // Where the wave of every box is known, a column is a wave; else it is as far left as its needs let it be.
    const known = nodes.every((node) => node.outside || node.wave !== undefined);
    const depths = levels(nodes.length, users), waves = known ? nodes.map((node) => node.wave ?? 0) : levels(nodes.length, needs);
    let first = 0;
    const some = new Set();
    nodes.forEach((node, i) => { if (node.outside) first = Math.max(first, depths[i] + 1); else some.add(waves[i]); });
    const names = [...some].sort((a, b) => a - b), at = new Map(names.map((wave, i) => [wave, first + i]));
    return { first, names, of: nodes.map((node, i) => node.outside ? first - 1 - depths[i] : at.get(waves[i])) };
  }

  function crossings(order, segments) {
    // Pairs of segments between two columns that cross: counted with a Fenwick tree.
    let total = 0;
    const between = new Map();
    for (const [left, right] of segments) {
      const key = order.column[left];
      if (!between.has(key)) between.set(key, []);
      between.get(key).push([order.at[left], order.at[right]]);
    }
    for (const pairs of between.values()) {
      pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      const size = 1 + pairs.reduce((most, pair) => Math.max(most, pair[1]), 0), tree = new Int32Array(size + 1);
      pairs.forEach((pair, seen) => {
        let below = 0;
        for (let i = pair[1] + 1; i > 0; i -= i & -i) below += tree[i];
        total += seen - below;
        for (let i = pair[1] + 1; i <= size; i += i & -i) tree[i]++;
      });
    }
    return total;
  }

  // Moves rows as little as possible from where they would like to be, keeping their order and distance.
  function settle(rows) {
    const blocks = [];
    let offset = 0;
    for (const row of rows) {
      row.offset = offset + row.h / 2;
      offset += row.h + row.gap;
      let block = { sum: (row.wish - row.offset) * row.weight, weight: row.weight, rows: [row] };
      while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].weight > block.sum / block.weight) {
        const last = blocks.pop();
        block = { sum: last.sum + block.sum, weight: last.weight + block.weight, rows: last.rows.concat(block.rows) };
      }
      blocks.push(block);
    }
    for (const block of blocks) for (const row of block.rows) row.y = block.sum / block.weight + row.offset;
  }

  // nodes: {w, h, outside}; edges: {from, to}, numbers of nodes, `from` needing `to`.
  // Gives {x, y} of each node's middle, the routes of edges as lists of segments, and the columns.
  function layout(nodes, edges, most = 48) {
    const { first, names, of } = columns(nodes, edges);
    const items = nodes.map((node, i) => ({ node: i, column: of[i], h: node.h, w: node.w }));
    // An edge over several columns bends in each; all edges to one box share their bends.
    const reach = new Map();
    for (const edge of edges) if (of[edge.from] > of[edge.to]) {
      reach.set(edge.to, Math.max(reach.get(edge.to) ?? 0, of[edge.from]));
    }
    const bends = new Map();
    for (const [to, last] of reach) {
      for (let column = of[to] + 1; column < last; column++) {
        bends.set(to + "/" + column, items.length);
        items.push({ bend: true, column, h: 2, w: 0 });
      }
    }
    const segments = [], known = new Map();
    const segment = (left, right) => {
      const key = left + "/" + right;
      if (!known.has(key)) { known.set(key, segments.length); segments.push([left, right]); }
      return known.get(key);
    };
    const routes = edges.map((edge) => {
      if (of[edge.from] <= of[edge.to]) return null;
      const route = [];
      let right = edge.from;
      for (let column = of[edge.from] - 1; column > of[edge.to]; column--) {
        const bend = bends.get(edge.to + "/" + column);
        route.push(segment(bend, right));
        right = bend;
      }
      route.push(segment(edge.to, right));
      return route;
    });
    const left = items.map(() => []), right = items.map(() => []);
    for (const [a, b] of segments) { right[a].push(b); left[b].push(a); }

    const all = [];
    items.forEach((item, i) => { (all[item.column] ??= []).push(i); });
    for (let c = 0; c < all.length; c++) all[c] ??= [];
    const order = { column: items.map((item) => item.column), at: new Float64Array(items.length) };
    const number = (column) => column.forEach((item, at) => { order.at[item] = at; });
    all.forEach(number);
    let best = all.map((column) => column.slice()), fewest = crossings(order, segments);
    const sweeps = segments.length > 20000 ? 4 : 12;
    for (let sweep = 0; sweep < sweeps && fewest > 0; sweep++) {
      const forth = sweep % 2 === 0, sides = forth ? left : right;
      for (let step = 1; step < all.length; step++) {
        const column = all[forth ? step : all.length - 1 - step];
        const size = (near) => Math.max(1, all[order.column[near]].length);
        const centre = new Map(column.map((item) => {
          const near = sides[item];
          const mean = near.reduce((sum, other) => sum + (order.at[other] + 0.5) / size(other), 0) / near.length;
          return [item, near.length ? mean : (order.at[item] + 0.5) / Math.max(1, column.length)];
        }));
        column.sort((a, b) => centre.get(a) - centre.get(b) || order.at[a] - order.at[b]);
        number(column);
      }
      const now = crossings(order, segments);
      if (now < fewest) { fewest = now; best = all.map((column) => column.slice()); }
    }

    // A column of very many boxes is folded into several, row by row.
    const folded = best.map((column) => {
      const boxes = column.filter((item) => !items[item].bend).length;
      const wide = Math.max(1, Math.ceil(boxes / most)), rows = [];
      let open = null;
      const row = (own, bend) => ({ items: own, bend, h: 0, gap: bend ? BEND : GAP_Y, wish: 0, weight: bend ? 2 : 1 });
      for (const item of column) {
        if (items[item].bend) { rows.push(row([item], true)); continue; }
        if (!open || open.items.length >= wide) rows.push(open = row([], false));
        open.items.push(item);
      }
      for (const one of rows) one.h = Math.max(...one.items.map((item) => items[item].h));
      return { rows, wide, boxes };
    });
    const y = new Float64Array(items.length);
    const place = (rows) => { settle(rows); for (const row of rows) for (const item of row.items) y[item] = row.y; };
    for (const { rows } of folded) {
      let top = 0;
      for (const row of rows) { row.wish = top + row.h / 2; top += row.h + row.gap; }
      for (const row of rows) row.wish -= top / 2;
      place(rows);
    }
    for (let sweep = 0; sweep < 10; sweep++) {
      const forth = sweep % 2 === 0, last = sweep >= 8;
      for (let step = 0; step < folded.length; step++) {
        const { rows } = folded[forth ? step : folded.length - 1 - step];
        for (const row of rows) {
          let sum = 0, count = 0;
          for (const item of row.items) for (const side of last ? [left, right] : [forth ? left : right]) {
            for (const other of side[item]) { sum += y[other]; count++; }
          }
          row.wish = count ? sum / count : y[row.items[0]];
          row.weight = (row.bend ? 2 : 1) * Math.max(1, Math.min(count, 8)) * (count ? 1 : 0.2);
        }
        place(rows);
      }
    }

    const x = new Float64Array(items.length), spans = [];
    let at = 0;
    folded.forEach(({ rows, wide, boxes }, number) => {
      const width = Math.max(24, ...rows.flatMap((row) => row.items.map((item) => items[item].w)));
      const whole = wide * width + (wide - 1) * SUB_X;
      for (const row of rows) row.items.forEach((item, n) => {
        x[item] = items[item].bend ? at + whole / 2 : at + n * (width + SUB_X) + width / 2;
        Object.assign(items[item], { span: [at, at + whole], first: n === 0, last: n === wide - 1, lane: row.y + row.h / 2 + GAP_Y / 2 });
      });
      spans.push({ left: at, right: at + whole, wave: number < first ? -1 : names[number - first], boxes });
      at += whole + GAP_X;
    });
    let top = Infinity, bottom = -Infinity;
    items.forEach((item, i) => { top = Math.min(top, y[i] - item.h / 2); bottom = Math.max(bottom, y[i] + item.h / 2); });
    if (!items.length) top = bottom = 0;
    // Where a segment ends: at the side of a box, or at an end of a bend. In a folded column it goes along the lane below
    // the row up to the column's edge, so that it passes behind no other box.
    const end = (i, side) => {
      const item = items[i], edge = item.span[side < 0 ? 0 : 1];
      if (item.bend) return [[edge, y[i] - top]];
      const tip = [x[i] + side * item.w / 2, y[i] - top];
      return (side < 0 ? item.first : item.last) ? [tip] : [tip, [tip[0] + side * SUB_X, item.lane - top], [edge, item.lane - top]];
    };
    return {
      at: nodes.map((_, i) => ({ x: x[i], y: y[i] - top })),
      segments: segments.map(([a, b]) => [end(a, 1), end(b, -1)]),
      through: items.map((item, i) => item.bend ? [end(i, -1)[0], end(i, 1)[0]] : null),
      ends: segments,
      routes,
      of,
      columns: spans,
      width: Math.max(0, at - GAP_X),
      height: bottom - top,
      crossings: fewest,
    };
  }
  layout.levels = levels;
  return layout;
})();
