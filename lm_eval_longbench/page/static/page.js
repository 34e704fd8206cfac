(function () {
  "use strict";
  const C = LongBenchCharts, at = C.at;
  const data = JSON.parse(document.getElementById("data").textContent);
  const T = {
    title: ["LongBench results", "LongBench 评测结果"],
    skip: ["Skip to the leaderboard", "跳到排行榜"],
    language: ["中文", "English"], dark: ["Dark", "深色"], light: ["Light", "浅色"],
    board: ["Leaderboard", "排行榜"], charts: ["Charts", "图表"],
    search: ["Search models", "搜索模型"], type: ["Type", "类型"], all: ["All", "全部"],
    kind: ["Show", "显示"], runs: ["Runs", "本次运行"], published: ["Published", "已发表"],
    official: ["Official", "官方协议"], officialOnly: ["Official protocol only", "仅官方协议"],
    model: ["Model", "模型"], context: ["Context", "上下文"], cut: ["Truncated to", "截断至"],
    gain: ["Gain", "增益"], effective: ["Effective length", "有效长度"],
    ranges: ["Effective length (official ranges)", "有效长度（官方区间）"],
    tokens: ["Effective length (measured tokens)", "有效长度（实测token数）"],
    shares: ["Failed / capped / truncated, %", "失败 / 达上限 / 截断，%"],
    signature: ["Signature", "签名"], rank: ["Rank", "名次"], run: ["run", "运行"],
    choose: ["Models in the charts", "图表中的模型"], top: ["Best 5", "前5名"],
    shownOnes: ["All shown", "全部显示的"], none: ["None", "清空"], only: ["Runs only", "仅运行"],
    rows: ["{n} of {m} models shown", "显示{m}个模型中的{n}个"],
    chosen: ["{n} chosen for the charts", "图表中选择了{n}个"],
    table: ["Table", "表格"], chart: ["Chart", "图形"], download: ["Download {x} of “{t}”", "下载“{t}”的{x}"],
    tableOf: ["Table of “{t}”", "“{t}”的表格"],
    difference: ["Paired difference of two runs", "两次运行的配对差异"],
    first: ["First", "第一个"], second: ["Second (less the first)", "第二个（减第一个）"],
    figure: ["Figure", "指标"], value: ["Difference", "差异"], interval: ["95% interval", "95%区间"],
    p: ["p", "p值"], n: ["Questions", "题数"],
    noPair: ["These two were not compared.", "未比较这两者。"],
    details: ["Runs in detail", "运行详情"],
    method: ["Method and sources", "方法与来源"], source: ["Source", "来源"],
    confirmed: ["confirmed", "已确认"], unconfirmed: ["not confirmed", "未确认"],
    unconfirmedWhy: ["What verify says of the runs that it does not confirm.", "verify 对未能确认的运行的说明。"],
    yes: ["official protocol", "官方协议"], no: ["not the official protocol", "非官方协议"],
    unknown: ["protocol not wholly known", "协议不完全可知"],
    pick: ["Choose {x} for the charts", "选择{x}用于图表"], marks: ["bars: 95% interval", "线段：95%区间"],
    answers: ["Answers", "作答"], task: ["Task", "任务"], whose: ["Run", "运行"],
    status: ["Which", "筛选"], failedOnes: ["failed", "失败"], cappedOnes: ["capped", "达到上限"],
    disagree: ["two runs disagree", "两次运行不一致"], wrong: ["score 0", "得分0"],
    partly: ["score between", "部分得分"], right: ["score 1", "满分"], text: ["Search text", "搜索文字"],
    previous: ["Previous", "上一页"], next: ["Next", "下一页"], prompt: ["Prompt, its ends", "提示（首尾）"],
    answer: ["Answer", "作答"], gold: ["Gold", "参考答案"], score: ["Score", "得分"],
    unscored: ["unscored", "未评分"], question: ["Question", "题目"], repeat: ["answer {n}", "第{n}次作答"],
    found: ["{n} questions, page {p} of {q}", "{n}道题，第{p}/{q}页"],
    loading: ["Unpacking the answers …", "正在解压作答……"],
    old: ["This browser cannot unpack the answers.", "此浏览器无法解压作答。"],
  };
  const state = {
    language: /^zh/i.test(navigator.language || "") ? "zh" : "en",
    theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    at: 0, byBench: data.benchmarks.map(() => null), print: false,
  };
  const t = (key, values) => at(T[key], state.language)
    .replace(/\{(\w)\}/g, (all, name) => (values && name in values ? values[name] : all));

  function h(tag, props, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(props || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name in node && !["list", "type", "role"].includes(name) && typeof value !== "string") node[name] = value;
      else node.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
    }
    node.append(...children.flat().filter((one) => one !== null && one !== undefined && one !== false));
    return node;
  }
  // A reason or a note of the package in the reader's language, marked where it is left in English.
  const told = (text) => (state.language === "zh" && data.chinese[text]) || text;
  const langOf = (text) => (told(text) === text && state.language === "zh" ? "en" : null);
  const note = (text, tag, ...before) => h(tag || "li", { lang: langOf(text) }, before, named(told(text)));
  const named = (text, props) => h("bdi", props || {}, text);
  const fixed = (value, decimals) => C.shown(value, decimals);

  // ------------------------------------------------------------------ what is shown

  const { rowsOf, bestOf } = C;

  function stateOf() {
    const bench = data.benchmarks[state.at];
    if (!state.byBench[state.at]) {
      const rows = rowsOf(bench);
      const own = {
        rows, sort: { key: "score", down: true }, search: "", type: "", kind: "", official: false,
        modes: new Set(bench.modes.map((mode) => mode[0])), tables: new Set(), chosen: new Set(),
        pair: null,
      };
      C.chosenFirst(bench).forEach((row) => own.chosen.add(row.key));
      state.byBench[state.at] = own;
    }
    return state.byBench[state.at];
  }

  const valueOf = (bench, index, place) => {
    const value = index === undefined ? null : bench.entries[index].values[place];
    return value ? value[0] : null;
  };
  const factOf = (bench, row, name) => {
    const found = row.all.map((i) => bench.entries[i][name]).find((value) => value);
    return found || "";
  };
  const lengthOf = (text) => {
    const found = /^([\d.]+)\s*([kKmM]?)/.exec(String(text || ""));
    return found ? Number(found[1]) * ({ k: 1e3, m: 1e6 }[found[2].toLowerCase()] || 1) : null;
  };
  const statusOf = (bench, row) => {
    const own = row.all.map((i) => bench.entries[i].official);
    return own.includes("yes") ? "yes" : own.includes("unknown") ? "unknown" : "no";
  };

  // The columns: key, header, the value to sort by, the cell.
  function columnsOf(bench) {
    const found = [{ key: "model", head: t("model"), left: true, sort: (row) => row.model.toLowerCase() }];
    const has = (name) => bench.entries.some((entry) => entry[name]);
    const fact = (name, head, sort) => has(name) && found.push({
      key: name, head, left: name === "type", sort: (row) => (sort ? sort(factOf(bench, row, name)) : factOf(bench, row, name)),
      cell: (row) => [named(shortened(factOf(bench, row, name), 28))] });
    bench.modes.forEach(([mode, label]) => bench.headline.forEach((point, n) => {
      const head = [bench.modes.length > 1 ? at(label, state.language) : "",
        bench.modes.length > 1 && bench.headline.length === 1 ? "" : at(point.label, state.language)].filter(Boolean).join(", ");
      found.push({ key: `${mode}/${n}`, head, number: true,
        sort: (row) => valueOf(bench, row.entries[mode], point.at),
        cell: (row) => numberCell(bench, row.entries[mode], point.at) });
    }));
    const special = bench.special;
    if (bench.entries.some((entry) => entry.values[special.gain])) {
      found.push({ key: "gain", head: t("gain"), number: true,
        sort: (row) => Math.max(...row.all.map((i) => valueOf(bench, i, special.gain) ?? -Infinity)),
        cell: (row) => row.all.filter((i) => bench.entries[i].values[special.gain]).slice(0, 1)
          .flatMap((i) => numberCell(bench, i, special.gain, true)) });
    }
    const measured = bench.entries.some((entry) => entry.values[special.tokens]);
    [["effective", bench.ladder], ["tokens", bench.tokens]].forEach(([name, ladder]) => {
      if (!ladder) return;
      bench.modes.forEach(([mode, label]) => {
        const own = bench.entries.filter((entry) => entry.mode === mode);
        if (!own.some((entry) => entry.values[special[name]])) return;
        found.push({ key: `${name}/${mode}`, number: true,
          head: [t(name === "effective" && measured ? "ranges" : name),
            bench.modes.length > 1 ? at(label, state.language) : ""].filter(Boolean).join(", "),
          sort: (row) => valueOf(bench, row.entries[mode], special[name]),
          cell: (row) => lengthCell(bench, row.entries[mode], name, ladder) });
      });
    });
    const order = { yes: 2, unknown: 1, no: 0 };
    found.push({ key: "official", head: t("official"), left: true, sort: (row) => order[statusOf(bench, row)],
      cell: (row) => officialCell(bench, row) });
    fact("type", t("type"));
    fact("context", t("context"), lengthOf);
    fact("cut", t("cut"), lengthOf);
    found.push({ key: "shares", head: t("shares"), number: true,
      sort: (row) => Math.max(...row.all.map((i) => valueOf(bench, i, special.failed) ?? -Infinity)),
      cell: (row) => sharesCell(bench, row) });
    if (has("signature")) {
      found.push({ key: "signature", head: t("signature"), left: true, sort: (row) => factOf(bench, row, "signature"),
        cell: (row) => {
          const own = factOf(bench, row, "signature");
          return own ? [h("code", { title: own }, shortened(own.split("|").pop(), 26))] : [];
        } });
    }
    return found;
  }
  const shortened = (text, most) => ([...String(text)].length > most ? [...String(text)].slice(0, most).join("") + "…" : String(text));
  const signed = (value, decimals) => (value > 0 ? "+" : "") + fixed(value, decimals);

  function numberCell(bench, index, place, sign) {
    const value = index === undefined ? null : bench.entries[index].values[place];
    if (!value) return ["–"];
    const one = (v) => (sign ? signed : fixed)(v, C.digitsOf(bench, bench.entries[index]));
    return value[1] === null ? [one(value[0])]
      : [one(value[0]), h("small", {}, `[${one(value[1])}, ${one(value[2])}]`)];
  }
  function lengthCell(bench, index, name, ladder) {
    const value = index === undefined ? null : bench.entries[index].values[bench.special[name]];
    if (!value) return ["–"];
    const longest = name === "tokens" ? bench.entries[index].longest : null;
    const one = (v) => C.lengthText(ladder, v, state.language, longest);
    return [one(value[0]), value[1] === null ? "" : h("small", {}, `[${one(value[1])}, ${one(value[2])}]`)];
  }
  function sharesCell(bench, row) {
    const one = (name) => {
      const own = row.all.map((i) => valueOf(bench, i, bench.special[name])).filter((v) => v !== null);
      return own.length ? fixed(Math.max(...own), 1) : "–";
    };
    return [["failed", "capped", "truncated"].map(one).join(" / ")];
  }
  function officialCell(bench, row) {
    const status = statusOf(bench, row), sign = { yes: "✓", unknown: "?", no: "✗" }[status];
    const why = row.all.map((i) => told(bench.entries[i].why)).filter(Boolean).join(" · ");
    const rank = row.all.map((i) => bench.entries[i].rank).filter(Boolean)[0];
    const short = status === "yes" ? "" : shortened(why, 34);
    return [h("span", { className: status, title: why || t(status) }, h("span", { "aria-hidden": "true" }, sign),
      h("span", { className: "vh" }, t(status))), rank ? ` ${t("rank")} ${rank}` : "",
      short && row.run ? h("small", { title: why }, named(short)) : null];
  }
  const modeText = (bench, mode) => C.modeText(bench, mode, state.language);
  const nameOf = (bench, entry) => C.nameOf(bench, entry, state.language);

  // ------------------------------------------------------------------ leaderboard

  function visibleRows(bench, own) {
    const search = own.search.trim().toLowerCase();
    const column = columnsOf(bench).find((one) => one.key === own.sort.key);
    const sort = column ? column.sort : (row) => bestOf(bench, row);
    const rows = own.rows.filter((row) =>
      (!search || row.model.toLowerCase().includes(search)) &&
      (!own.type || factOf(bench, row, "type") === own.type) &&
      (!own.kind || (own.kind === "run") === row.run) &&
      (!own.official || statusOf(bench, row) === "yes"));
    const known = (value) => value !== null && value !== undefined && value !== "" && value !== -Infinity;
    const keyed = rows.map((row) => [sort(row), row]);
    keyed.sort(([a, x], [b, y]) => {
      if (known(a) !== known(b)) return known(a) ? -1 : 1;
      if (!known(a)) return 0;
      const by = typeof a === "string" ? a.localeCompare(b) : a - b;
      return (own.sort.down ? -by : by) || (x.model < y.model ? -1 : 1);
    });
    return keyed.map((one) => one[1]);
  }

  function drawRows(bench, own) {
    const columns = columnsOf(bench), rows = visibleRows(bench, own);
    const body = document.querySelector("#board tbody");
    body.replaceChildren(...rows.map((row) => {
      const box = h("input", { type: "checkbox", checked: own.chosen.has(row.key),
        "aria-label": t("pick", { x: row.model }),
        onchange: (event) => {
          if (event.target.checked) own.chosen.add(row.key); else own.chosen.delete(row.key);
          chosenChanged();
        } });
      const link = factOf(bench, row, "link");
      const name = /^https?:\/\//.test(link)
        ? h("a", { href: link, rel: "noopener noreferrer", target: "_blank" }, named(row.model)) : named(row.model);
      return h("tr", { className: row.run ? "run" : "" },
        h("td", { className: "name", title: row.model }, box, name,
          row.run ? h("span", { className: "badge" }, t(factOf(bench, row, "mark") || "run")) : null),
        columns.slice(1).map((column) => h("td", { className: column.left ? "left" : "" }, column.cell(row))));
    }));
    document.getElementById("count").textContent = t("rows", { n: rows.length, m: own.rows.length });
    return rows;
  }

  function drawHead(bench, own) {
    const head = document.querySelector("#board thead");
    head.replaceChildren(h("tr", {}, columnsOf(bench).map((column, i) => {
      const on = own.sort.key === column.key || (own.sort.key === "score" && column.number && false);
      return h("th", { scope: "col", className: (i ? "" : "name ") + (column.left ? "left" : ""),
        "aria-sort": on ? (own.sort.down ? "descending" : "ascending") : null },
        h("button", { type: "button", "data-key": column.key, onclick: () => {
          own.sort = { key: column.key, down: on ? !own.sort.down : column.key !== "model" && column.key !== "type" };
          drawHead(bench, own);
          drawRows(bench, own);
          document.querySelector(`#board button[data-key="${CSS.escape(column.key)}"]`).focus();
        } }, column.head));
    })));
  }

  function board(bench, own) {
    const again = () => drawRows(bench, own);
    const types = [...new Set(bench.entries.map((entry) => entry.type).filter(Boolean))].sort();
    const option = (value, text, now) => h("option", { value, selected: value === now }, text);
    const both = own.rows.some((row) => row.run) && own.rows.some((row) => !row.run);
    const pickers = [["top", () => {
      own.chosen.clear();
      C.byScore(bench, own.rows).slice(0, 5).forEach((row) => own.chosen.add(row.key));
    }], ["shownOnes", () => visibleRows(bench, own).forEach((row) => own.chosen.add(row.key))],
    ["none", () => own.chosen.clear()]];
    if (both) pickers.splice(1, 0, ["only", () => {
      own.chosen.clear();
      own.rows.filter((row) => row.run).forEach((row) => own.chosen.add(row.key));
    }]);
    return h("section", { id: "board", "aria-labelledby": "board-title" },
      h("div", { className: "head" }, h("h2", { id: "board-title", tabIndex: -1, className: "grow" }, `${bench.title}: ${t("board")}`),
        h("span", { id: "count", className: "sub", role: "status" })),
      h("div", { className: "head tools" },
        h("label", {}, h("span", { className: "vh" }, t("search")),
          h("input", { type: "search", id: "search", placeholder: t("search"), value: own.search,
            oninput: (event) => { own.search = event.target.value; again(); } })),
        types.length > 1 ? h("label", {}, t("type"), h("select", { id: "type", onchange: (event) => { own.type = event.target.value; again(); } },
          option("", t("all"), own.type), types.map((one) => option(one, one, own.type)))) : null,
        both ? h("label", {}, t("kind"), h("select", { id: "kind", onchange: (event) => { own.kind = event.target.value; again(); } },
          option("", t("all"), own.kind), option("run", t("runs"), own.kind), option("published", t("published"), own.kind))) : null,
        h("label", {}, h("input", { type: "checkbox", id: "official", checked: own.official,
          onchange: (event) => { own.official = event.target.checked; again(); } }), t("officialOnly")),
        h("span", { className: "tools few", role: "group", "aria-label": t("choose") }, h("span", { className: "sub" }, t("choose") + ":"),
          pickers.map(([key, act]) => h("button", { type: "button", id: "pick-" + key, onclick: () => { act(); again(); chosenChanged(); } }, t(key))))),
      h("div", { className: "scroll tall", tabIndex: 0, role: "region", "aria-label": t("tableOf", { t: t("board") }) },
        h("table", {}, h("caption", { className: "vh" }, `${bench.title}: ${t("board")}`), h("thead"), h("tbody"))),
      h("p", { className: "sub", lang: langOf(bench.note) }, told(bench.note)));
  }

  // ------------------------------------------------------------------ charts

  function chosenEntries(bench, own) {
    const found = C.byScore(bench, own.rows.filter((row) => own.chosen.has(row.key))).flatMap((row) => row.all)
      .filter((index) => own.modes.has(bench.entries[index].mode));
    return found;
  }

  const specFor = (bench, own, name) => {
    return C.specOf(bench, name, chosenEntries(bench, own), state.language);
  };
  const themeNow = () => (state.print ? "light" : state.theme);

  function drawChart(bench, own, card) {
    const name = card.dataset.chart, plot = card.querySelector(".plot");
    const spec = specFor(bench, own, name);
    if (own.tables.has(name)) {
      const [head, ...rows] = C.tableOf(spec);
      plot.replaceChildren(h("div", { className: "scroll tall", tabIndex: 0, role: "region", "aria-label": t("tableOf", { t: spec.title }) },
        h("table", {}, h("caption", { className: "vh" }, spec.title),
          h("thead", {}, h("tr", {}, head.map((one, i) => h("th", { scope: "col", className: i ? "" : "name" }, i ? one : t("model"))))),
          h("tbody", {}, rows.map((row) => h("tr", {}, row.map((one, i) => h("td", { className: i ? "" : "name" }, i ? one : named(one)))))))));
      return;
    }
    const width = Math.max(plot.clientWidth || 560, 260);
    const text = C.draw(spec, { width, theme: themeNow() });
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    plot.replaceChildren(document.importNode(parsed, true));
  }

  // Charts in view first, the others one at a time, so that the page answers meanwhile.
  let waiting = 0;
  function drawCharts(atOnce) {
    const bench = data.benchmarks[state.at], own = stateOf();
    const entries = chosenEntries(bench, own);
    document.getElementById("chosen").textContent = t("chosen", { n: entries.length });
    const inView = (card) => {
      const box = card.getBoundingClientRect();
      return box.top < innerHeight && box.bottom > 0;
    };
    const cards = [...document.querySelectorAll("figure[data-chart]")];
    const queue = [...cards.filter(inView), ...cards.filter((card) => !inView(card))];
    clearTimeout(waiting);
    document.documentElement.dataset.charts = "waiting";
    const step = () => {
      const card = queue.shift();
      if (card) drawChart(bench, own, card);
      if (queue.length && atOnce === true) step();
      else if (queue.length) waiting = setTimeout(step, 0);
      else document.documentElement.dataset.charts = "drawn";
    };
    if (atOnce === true) step();
    else waiting = setTimeout(step, 0);
  }
  const chosenChanged = drawCharts;

  function save(name, content, type) {
    const blob = content instanceof Blob ? content : new Blob([content], { type });
    const url = URL.createObjectURL(blob);
    const link = h("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }
  const exported = (spec) => C.draw(spec, { width: spec.panels.length > 1 ? 1100 : 860, theme: state.theme, titled: true });
  function savePng(svg, name) {
    const image = new Image(), scale = 2;
    const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    image.onload = () => {
      const canvas = h("canvas", { width: image.width * scale, height: image.height * scale });
      const brush = canvas.getContext("2d");
      brush.scale(scale, scale);
      brush.drawImage(image, 0, 0);
      URL.revokeObjectURL(url);
      canvas.toBlob((blob) => save(name, blob), "image/png");
    };
    image.src = url;
  }

  function charts(bench, own) {
    const card = (chart) => {
      const title = at(chart.title, state.language), file = `${bench.name}-${chart.name}`;
      const spec = () => specFor(bench, own, chart.name);
      const button = (kind, act) => h("button", { type: "button", "data-save": kind,
        "aria-label": t("download", { x: kind.toUpperCase(), t: title }), onclick: act }, kind.toUpperCase());
      const toggle = h("button", { type: "button", "data-table": chart.name, "aria-pressed": String(own.tables.has(chart.name)),
        "aria-label": t("tableOf", { t: title }), onclick: () => {
          if (own.tables.has(chart.name)) own.tables.delete(chart.name); else own.tables.add(chart.name);
          toggle.setAttribute("aria-pressed", String(own.tables.has(chart.name)));
          drawChart(bench, own, node);
        } }, t("table"));
      const wide = chart.panels.length > 1 || chart.kind === "heat" && chart.panels[0].points.length > 5;
      const node = h("figure", { className: "card" + (wide ? " wide" : ""), "data-chart": chart.name },
        h("div", { className: "head" }, h("h3", { className: "grow" }, title),
          h("div", { className: "tools few" }, toggle, button("png", () => savePng(exported(spec()), file + ".png")),
            button("svg", () => save(file + ".svg", exported(spec()), "image/svg+xml")),
            button("csv", () => save(file + ".csv", "\ufeff" + C.csvOf(spec()), "text/csv")))),
        h("div", { className: "plot" }));
      return node;
    };
    const modes = bench.modes.length > 1 ? h("div", { className: "tools few", role: "group", "aria-label": t("choose") },
      bench.modes.map(([mode, label]) => {
        const button = h("button", { type: "button", "data-mode": mode, "aria-pressed": String(own.modes.has(mode)), onclick: () => {
          if (own.modes.has(mode)) own.modes.delete(mode); else own.modes.add(mode);
          button.setAttribute("aria-pressed", String(own.modes.has(mode)));
          chosenChanged();
        } }, at(label, state.language) || mode);
        return button;
      })) : null;
    return h("div", {}, h("section", { "aria-labelledby": "charts-title" },
      h("div", { className: "head" }, h("h2", { id: "charts-title", className: "grow" }, t("charts")), modes,
        h("span", { id: "chosen", className: "sub", role: "status" })),
      h("div", { className: "charts" }, bench.charts.map(card))));
  }

  // ------------------------------------------------------------------ differences and details

  function difference(bench, own) {
    const runs = bench.entries.map((entry, index) => [entry, index]).filter(([entry]) => entry.run);
    if (runs.length < 2 || !bench.differences.length) return null;
    own.pair = own.pair || [bench.differences[0].first, bench.differences[0].second];
    const select = (n, text) => h("label", {}, text, h("select", { id: `pair-${n}`, onchange: (event) => {
      own.pair[n] = Number(event.target.value);
      fill();
    } }, runs.map(([entry, index]) => h("option", { value: String(index), selected: own.pair[n] === index }, shortened(nameOf(bench, entry), 60)))));
    const place = h("div", {});
    const names = new Map();
    bench.headline.forEach((point) => names.set(point.at, at(point.label, state.language)));
    bench.charts.forEach((chart) => chart.panels.forEach((panel) => panel.points.forEach((point) => {
      if (!names.has(point.at)) names.set(point.at, [at(chart.title, state.language), at(panel.title, state.language), at(point.label, state.language)].filter(Boolean).join(" · "));
    })));
    function fill() {
      const [first, second] = own.pair;
      const found = bench.differences.find((one) => one.first === first && one.second === second);
      const turned = bench.differences.find((one) => one.first === second && one.second === first);
      const pair = found || turned, sign = found ? 1 : -1;
      if (!pair || pair.reason) {
        place.replaceChildren(h("p", { className: "sub" }, pair ? note(pair.reason, "span") : t("noPair")));
        return;
      }
      const one = (value) => signed(value, bench.decimals);
      const rows = pair.values.map((value, i) => [value, bench.compared[i]]).filter(([value]) => value);
      place.replaceChildren(h("div", { className: "scroll tall", tabIndex: 0, role: "region", "aria-label": t("tableOf", { t: t("difference") }) },
        h("table", { id: "differences" }, h("thead", {}, h("tr", {}, ["figure", "value", "interval", "p", "n"].map((key, i) =>
          h("th", { scope: "col", className: i ? "" : "name" }, t(key))))),
        h("tbody", {}, rows.map(([value, index]) => {
          const ends = value[1] === null ? null : [sign * value[1], sign * value[2]].sort((a, b) => a - b);
          const sure = value[4] !== null && value[4] < 0.05;
          const cells = [one(sign * value[0]), ends ? `[${one(ends[0])}, ${one(ends[1])}]` : "–",
            value[4] === null ? "–" : value[4] < 0.0005 ? "<0.001" : fixed(value[4], 3), value[3]];
          return h("tr", {}, h("td", { className: "name" }, names.get(index) || bench.places[index].join(": ")),
            cells.map((cell) => h("td", {}, sure ? h("strong", {}, String(cell)) : String(cell))));
        })))));
    }
    fill();
    return h("section", { "aria-labelledby": "difference-title" }, h("div", { className: "head" },
      h("h2", { id: "difference-title", className: "grow" }, t("difference")),
      h("div", { className: "tools" }, select(0, t("first")), select(1, t("second")))), place);
  }

  function details(bench) {
    const runs = bench.entries.filter((entry) => entry.run);
    if (!runs.length) return null;
    return h("section", { "aria-labelledby": "details-title" }, h("h2", { id: "details-title" }, t("details")),
      runs.map((entry) => h("details", {}, h("summary", {}, named(nameOf(bench, entry))),
        h("dl", {}, [["official", `${t(entry.official)}${entry.why ? `: ${told(entry.why)}` : ""}`], ["rank", entry.rank], ["cut", entry.cut],
          ["signature", entry.signature]].filter((one) => one[1]).flatMap(([key, value]) =>
          [h("dt", {}, t(key)), h("dd", {}, key === "signature" ? h("code", {}, value) : named(value))])),
        h("ul", { className: "notes" }, entry.notes.map((one) => note(one))))));
  }

  function method(bench) {
    const sources = [...new Set(bench.entries.map((entry) => entry.source).filter(Boolean))];
    return h("section", { "aria-labelledby": "method-title" }, h("h2", { id: "method-title" }, t("method")),
      h("ul", { className: "notes" }, [...data.method, ...bench.remarks].map((one) => note(one)),
        sources.map((one) => note(one, "li", `${t("source")}: `))));
  }

  function unconfirmed() {
    if (!data.unconfirmed.length) return null;
    return h("section", { className: "unconfirmed", id: "unconfirmed", "aria-labelledby": "unconfirmed-title" },
      h("h2", { id: "unconfirmed-title" }, t("unconfirmed")), h("p", {}, t("unconfirmedWhy")),
      data.unconfirmed.map((one) => h("details", {}, h("summary", {}, named(one.name)),
        h("ul", { className: "notes" }, one.reasons.map((reason) => note(reason))))));
  }

  // ------------------------------------------------------------------ the page

  function tabs() {
    const buttons = data.benchmarks.map((bench, i) => h("button", { type: "button", role: "tab", id: `tab-${bench.name}`,
      "aria-selected": String(i === state.at), "aria-controls": "panel", tabIndex: i === state.at ? 0 : -1,
      onclick: () => go(i), onkeydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        go((i + step + data.benchmarks.length) % data.benchmarks.length);
        document.querySelector('[role="tab"][aria-selected="true"]').focus();
      } }, bench.title, h("span", { className: "count" }, String(rowsOf(bench).length))));
    return data.benchmarks.length > 1 ? h("nav", { "aria-label": t("title") }, h("div", { className: "tabs", role: "tablist", "aria-label": t("title") }, buttons)) : null;
  }
  function go(number) {
    state.at = number;
    render();
  }

  function render() {
    document.documentElement.lang = state.language === "zh" ? "zh-CN" : "en";
    document.documentElement.dataset.theme = state.theme;
    document.title = t("title");
    const bench = data.benchmarks[state.at];
    const top = h("header", { className: "top" }, h("div", { className: "wrap" },
      h("div", { className: "grow" }, h("h1", {}, t("title")), h("p", { className: "sub" }, data.package)),
      h("div", { className: "tools few" },
        h("button", { type: "button", id: "language", lang: state.language === "zh" ? "en" : "zh-CN", onclick: () => {
          state.language = state.language === "zh" ? "en" : "zh";
          render();
          document.getElementById("language").focus();
        } }, t("language")),
        h("button", { type: "button", id: "theme", onclick: () => {
          state.theme = state.theme === "dark" ? "light" : "dark";
          render();
          document.getElementById("theme").focus();
        } }, t(state.theme === "dark" ? "light" : "dark")))));
    const parts = [h("a", { className: "skip", href: "#panel" }, t("skip")), top, tabs()];
    const inner = [unconfirmed()];
    if (bench) {
      const own = stateOf();
      inner.unshift(board(bench, own), charts(bench, own), difference(bench, own), details(bench));
      const browser = window.LongBenchAnswers && window.LongBenchAnswers.section(data, state, { h, t, named, fixed, shortened });
      inner.push(browser, method(bench));
      if (own.sort.key === "score" && bench.headline.length) {
        const scored = bench.modes.map(([mode]) => [mode, own.rows.filter((row) => valueOf(bench, row.entries[mode], bench.headline[0].at) !== null).length]);
        own.sort.key = `${scored.sort((a, b) => b[1] - a[1])[0][0]}/0`;
      }
    }
    const panel = data.benchmarks.length > 1 ? { role: "tabpanel", "aria-labelledby": `tab-${bench.name}` } : {};
    parts.push(h("main", { className: "wrap" }, h("div", { id: "panel", tabIndex: -1, ...panel }, inner.filter(Boolean))));
    parts.push(h("footer", {}, h("div", { className: "wrap" }, data.package)));
    document.body.replaceChildren(...parts.filter(Boolean));
    const tab = document.querySelector('[role="tab"][aria-selected="true"]');
    if (tab) tab.scrollIntoView({ inline: "nearest", block: "nearest" });
    if (bench) {
      const own = stateOf();
      drawHead(bench, own);
      drawRows(bench, own);
      drawCharts();
    }
    document.documentElement.dataset.ready = "yes";
  }

  let width = innerWidth, resizing = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(resizing);
    resizing = setTimeout(() => drawCharts(), 120);
  });
  addEventListener("beforeprint", () => {
    state.print = true;
    document.documentElement.dataset.theme = "light";
    drawCharts(true);
  });
  addEventListener("afterprint", () => {
    state.print = false;
    render();
  });
  render();
})();
