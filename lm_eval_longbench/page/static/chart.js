// Charts as SVG text: one renderer for the page and for files. It needs no document: `draw` makes a
// text from a specification, and `specOf` makes the specification from the data of a page.
(function (root) {
  "use strict";

  const SANS = '"Noto Sans", "Noto Sans CJK SC", "Source Han Sans SC", "PingFang SC", ' +
    '"Microsoft YaHei", "DejaVu Sans", Helvetica, Arial, sans-serif';
  // Colours that people with colour blindness tell apart; each 3:1 or better on the paper.
  const THEMES = {
    light: {
      paper: "#ffffff", ink: "#1b1f24", muted: "#57606a", grid: "#d8dee4", axis: "#8c959f",
      series: ["#0072b2", "#c44e00", "#007a5a", "#a8457f", "#866800", "#2b83ba", "#4d4d4d",
        "#7a2048"],
      inner: "#c44e00", heat: [[234, 242, 251], [120, 170, 214], [33, 102, 172], [8, 40, 92]],
    },
    dark: {
      paper: "#161b22", ink: "#e6edf3", muted: "#a2abb5", grid: "#30363d", axis: "#6e7681",
      series: ["#56b4e9", "#f0884a", "#2fc49b", "#e79ac4", "#e6c229", "#9ad0f5", "#d0d0d0",
        "#d9679b"],
      inner: "#f0884a", heat: [[28, 46, 70], [36, 84, 140], [74, 144, 205], [188, 221, 247]],
    },
  };
  const DASHES = ["", "6 3", "2 3", "8 3 2 3"];
  // Beyond these nobody tells lines apart, or reads rows.
  const MOST_LINES = 24, MOST_ROWS = 120;
  const WORDS = {
    en: { of: "models", best: "Highest", at: "at", none: "No numbers for the chosen models.",
      marks: [". ", ": ", ", "],
      some: "{n} of {m} are drawn; the table has all." },
    zh: { of: "个模型", best: "最高", at: "于", none: "所选模型没有数据。", marks: ["。", "：", "，"],
      some: "仅绘制{m}个中的{n}个；表格含全部。" },
  };

  const esc = (text) => String(text).replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
  const at = (text, language) => text[language === "zh" ? 1 : 0] || text[0] || "";
  const r = (value) => String(Math.round(value * 100) / 100);

  // About how wide a text is: there is nothing here that could measure it.
  function widthOf(text, size) {
    let total = 0;
    for (const c of String(text)) {
      const code = c.codePointAt(0);
      total += code > 0x2e7f ? 1 : /[iljtfrI.,:;'|!()\[\] ]/.test(c) ? 0.34
        : /[A-Z@%mwMW]/.test(c) ? 0.74 : 0.57;
    }
    return total * size;
  }

  function fitted(text, size, most) {
    if (widthOf(text, size) <= most) return String(text);
    let kept = "";
    for (const c of String(text)) {
      if (widthOf(kept + c + "…", size) > most) break;
      kept += c;
    }
    return kept + "…";
  }

  function ticksOf(low, high, most) {
    if (!(high > low)) high = low + 1;
    const span = high - low;
    const power = Math.pow(10, Math.floor(Math.log10(span / most)));
    const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => span / n <= most);
    const first = Math.floor(low / step + 1e-9), last = Math.ceil(high / step - 1e-9);
    const found = [];
    for (let n = first; n <= last; n++) found.push(Number((n * step).toPrecision(12)));
    return found;
  }

  const shown = (value, decimals) => (Object.is(value, -0) ? 0 : value).toFixed(decimals);

  // The number of a tick has no more digits than it needs.
  const tickText = (value) => String(Number(value.toFixed(4)));

  function text(x, y, string, options) {
    const o = options || {};
    return `<text x="${r(x)}" y="${r(y)}" font-size="${o.size || 12}" fill="${o.fill}"` +
      (o.anchor ? ` text-anchor="${o.anchor}"` : "") +
      (o.weight ? ` font-weight="${o.weight}"` : "") +
      (o.middle ? ' dominant-baseline="central"' : "") +
      `>${o.full && o.full !== string ? `<title>${esc(o.full)}</title>` : ""}${esc(string)}</text>`;
  }

  const line = (x1, y1, x2, y2, stroke, more) =>
    `<line x1="${r(x1)}" y1="${r(y1)}" x2="${r(x2)}" y2="${r(y2)}" stroke="${stroke}"${more || ""}/>`;
  const rect = (x, y, w, h, fill, more) =>
    `<rect x="${r(x)}" y="${r(y)}" width="${r(Math.max(w, 0))}" height="${r(h)}" fill="${fill}"${more || ""}/>`;

  function marker(kind, x, y, size, fill, paper) {
    const more = `fill="${fill}" stroke="${paper}" stroke-width="1"`;
    const path = (points) => `<path d="M${points.map((p) => r(x + p[0] * size) + " " + r(y + p[1] * size)).join("L")}Z" ${more}/>`;
    switch (kind % 4) {
      case 1: return `<rect x="${r(x - size * 0.9)}" y="${r(y - size * 0.9)}" width="${r(size * 1.8)}" height="${r(size * 1.8)}" ${more}/>`;
      case 2: return path([[0, -1.2], [1.1, 0.8], [-1.1, 0.8]]);
      case 3: return path([[0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]]);
      default: return `<circle cx="${r(x)}" cy="${r(y)}" r="${r(size)}" ${more}/>`;
    }
  }

  function heatColour(theme, part) {
    const stops = theme.heat, place = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
    const first = Math.min(Math.floor(place), stops.length - 2), rest = place - first;
    return stops[first].map((own, i) => Math.round(own + rest * (stops[first + 1][i] - own)));
  }

  function readable(rgb) {
    const linear = rgb.map((own) => {
      const part = own / 255;
      return part <= 0.03928 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
    });
    const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "#ffffff" : "#000000";
  }

  const whisker = (x, low, high, y, stroke) =>
    line(low, y, high, y, stroke, ' stroke-width="1.4"') +
    line(low, y - 3, low, y + 3, stroke, ' stroke-width="1.4"') +
    line(high, y - 3, high, y + 3, stroke, ' stroke-width="1.4"');

  // The extent of all numbers of a chart, with their intervals.
  function extent(spec) {
    let low = Infinity, high = -Infinity;
    for (const one of spec.series) for (const panel of one.values) for (const value of panel) {
      if (!value) continue;
      for (const end of value.slice(0, 3)) {
        if (end === null) continue;
        low = Math.min(low, end);
        high = Math.max(high, end);
      }
    }
    return [low, high];
  }

  function legend(items, width, theme, y) {
    let x = 0, row = 0, out = "";
    for (const item of items) {
      const label = fitted(item.name, 12, Math.min(width - 30, 260));
      const own = 26 + widthOf(label, 12) + 14;
      if (x && x + own > width) { x = 0; row += 1; }
      const top = y + row * 20;
      out += item.line
        ? line(x, top, x + 20, top, item.fill, ` stroke-width="2.2"${item.dash ? ` stroke-dasharray="${item.dash}"` : ""}`) +
          marker(item.mark, x + 10, top, 3.6, item.fill, theme.paper)
        : rect(x + 4, top - 6, 12, 12, item.fill, ' rx="2"');
      out += text(x + 26, top, label, { fill: theme.ink, middle: true, full: item.name });
      x += own;
    }
    return { svg: out, height: items.length ? (row + 1) * 20 + 6 : 0 };
  }

  const strokeOf = (theme, index) => theme.series[index % theme.series.length];
  const dashOf = (theme, index) => DASHES[Math.floor(index / theme.series.length) % DASHES.length];

  // Rows of horizontal bars, one group a model.
  function drawBars(spec, theme, width) {
    const inside = spec.kind === "inside", points = spec.panels[0].labels;
    const label = Math.min(Math.max(...spec.series.map((s) => widthOf(s.name, s.run ? 13 : 12)), 40) + 10,
      width * 0.4);
    const right = 46, [, most] = extent(spec);
    const bar = inside || points.length === 1 ? 18 : 11;
    const ticks = ticksOf(0, most, width < 480 ? 4 : 6), top = ticks[ticks.length - 1];
    const scale = (value) => label + (value / top) * (width - label - right);
    const items = points.length > 1 ? points.map((name, i) => ({
      name, fill: inside && i ? theme.inner : strokeOf(theme, i) })) : [];
    const head = legend(items, width, theme, 8);
    const start = head.height + 18, step = (inside ? bar : bar * points.length) + 10;
    const bottom = start + step * spec.series.length;
    let out = head.svg;
    for (const tick of ticks) {
      out += line(scale(tick), start - 4, scale(tick), bottom, theme.grid);
      out += text(scale(tick), start - 10, tickText(tick), { fill: theme.muted, size: 11, anchor: "middle" });
    }
    spec.series.forEach((one, row) => {
      const y = start + row * step, middle = y + (step - 10) / 2;
      out += rowLabel(one, label - 8, middle, label - 10, theme);
      one.values[0].forEach((value, i) => {
        if (!value) return;
        const height = inside ? (i ? 6 : bar) : bar - 1;
        const own = inside ? (i ? y + 6 : y) : y + i * bar;
        const fill = inside && i ? theme.inner : strokeOf(theme, inside ? 0 : i);
        const title = `<title>${esc(one.name + " · " + points[i] + ": " + spec.say(value, one))}</title>`;
        out += `<g>${title}${rect(scale(0), own, scale(value[0]) - scale(0), height, fill, ' rx="2"')}</g>`;
        if (value[1] !== null) {
          const place = inside && !i ? y + bar - 3.5 : own + height / 2;
          out += whisker(0, scale(value[1]), scale(value[2]), place, theme.ink);
        }
        if (!(inside && i)) {
          const end = value[2] === null ? value[0] : Math.max(value[0], value[2]);
          out += text(scale(end) + 5, own + height / 2, shown(value[0], one.decimals), {
            fill: theme.muted, size: bar < 14 ? 10 : 11, middle: true });
        }
      });
    });
    out += line(scale(0), start - 4, scale(0), bottom, theme.axis);
    return { svg: out, height: bottom + 4 };
  }

  // A row a model with a point and its interval, around 0 or along the lengths.
  function drawDots(spec, theme, width) {
    const label = Math.min(Math.max(...spec.series.map((s) => widthOf(s.name, s.run ? 13 : 12)), 40) + 10,
      width * 0.4);
    const right = 60, [low, most] = extent(spec);
    const steps = spec.axis;
    const ticks = steps ? steps.map((_, i) => i)
      : ticksOf(Math.min(low, 0), Math.max(most, 0), width < 480 ? 4 : 7);
    const first = ticks[0], last = ticks[ticks.length - 1];
    const scale = (value) => label + 8 + ((value - first) / (last - first || 1)) * (width - label - right - 8);
    const start = 22, step = 24, bottom = start + step * spec.series.length;
    let out = "";
    for (const tick of ticks) {
      const zero = spec.signed && tick === 0;
      out += line(scale(tick), start - 4, scale(tick), bottom, zero ? theme.axis : theme.grid, zero ? ' stroke-width="1.6"' : "");
      const string = steps ? steps[tick].replace(/ .*/, width < 700 ? "" : "$&") : tickText(tick);
      out += text(scale(tick), start - 9, fitted(string, 11, (width - label) / ticks.length), {
        fill: theme.muted, size: 11, anchor: "middle" });
    }
    spec.series.forEach((one, row) => {
      const value = one.values[0][0], y = start + row * step + step / 2 - 2;
      out += rowLabel(one, label - 8, y, label - 10, theme);
      if (!value) return;
      const fill = strokeOf(theme, one.run ? 1 : 0);
      if (value[1] !== null) out += whisker(0, scale(value[1]), scale(value[2]), y, theme.muted);
      out += `<g><title>${esc(one.name + ": " + spec.say(value, one))}</title>${marker(one.run ? 3 : 0, scale(value[0]), y, 5, fill, theme.paper)}</g>`;
      out += text(width, y, spec.short(value, one), { fill: theme.ink, size: 11, anchor: "end", middle: true });
    });
    return { svg: out, height: bottom + 4 };
  }

  function drawHeat(spec, theme, width) {
    const points = spec.panels[0].labels, [low, most] = extent(spec);
    const label = Math.min(Math.max(...spec.series.map((s) => widthOf(s.name, s.run ? 13 : 12)), 40) + 10,
      width * 0.36);
    const cell = (width - label) / points.length, step = 26, size = cell < 42 ? 10 : 12;
    const lean = points.some((name) => widthOf(name, 11) > cell - 4), start = lean ? 40 : 24;
    let out = "";
    points.forEach((name, i) => {
      const lines = lean ? wrapped(name, 11, cell - 4, 3) : [name];
      lines.forEach((own, n) => {
        out += text(label + (i + 0.5) * cell, start - 8 - (lines.length - 1 - n) * 12, own, {
          fill: theme.muted, size: 11, anchor: "middle", full: name });
      });
    });
    spec.series.forEach((one, row) => {
      const y = start + row * step;
      out += rowLabel(one, label - 8, y + step / 2, label - 10, theme);
      one.values[0].forEach((value, i) => {
        const x = label + i * cell;
        if (!value) {
          out += text(x + cell / 2, y + step / 2, "–", { fill: theme.muted, anchor: "middle", middle: true });
          return;
        }
        const rgb = heatColour(theme, most > low ? (value[0] - low) / (most - low) : 0.5);
        const title = `<title>${esc(one.name + " · " + points[i] + ": " + spec.say(value, one))}</title>`;
        const digits = Math.min(spec.decimals, 1), cut = (end) => shown(end, digits);
        const ends = value[1] === null ? "" : ` [${cut(value[1])}, ${cut(value[2])}]`;
        const whole = widthOf(cut(value[0]) + ends, 11) < cell - 6;
        out += `<g>${title}${rect(x + 1, y + 1, cell - 2, step - 2, `rgb(${rgb.join(",")})`, ' rx="3"')}` +
          text(x + cell / 2, y + step / 2, cut(value[0]) + (whole ? ends : ""), {
            fill: readable(rgb), size: ends && whole ? 11 : size, anchor: "middle", middle: true }) + "</g>";
      });
    });
    return { svg: out, height: start + step * spec.series.length + 4 };
  }

  // The name of a row, right of which its marks begin; its mode on a line of its own if need be.
  function rowLabel(one, x, middle, room, theme) {
    const size = one.run ? 13 : 12, weight = one.run ? "700" : "";
    const more = { fill: theme.ink, anchor: "end", middle: true, full: one.name, weight };
    if (!one.mode || widthOf(one.name, size) <= room) {
      return text(x, middle, fitted(one.name, size, room), more);
    }
    return text(x, middle - 6, fitted(one.model, size, room), more) +
      text(x, middle + 7, fitted(one.mode, 10, room), { fill: theme.muted, anchor: "end", middle: true, size: 10 });
  }

  function wrapped(name, size, most, lines) {
    const found = [""];
    for (const word of String(name).split(" ")) {
      const next = found[found.length - 1] ? found[found.length - 1] + " " + word : word;
      if (widthOf(next, size) <= most || !found[found.length - 1]) found[found.length - 1] = next;
      else found.push(word);
    }
    const kept = found.slice(0, lines).map((own) => fitted(own, size, most));
    if (found.length > lines) kept[lines - 1] = fitted(found.slice(lines - 1).join(" "), size, most);
    return kept;
  }

  function grid(spec, width, most) {
    const number = spec.panels.length;
    const fitting = Math.max(1, Math.min(number, Math.floor(width / most)));
    const columns = Math.ceil(number / Math.ceil(number / fitting));
    return { columns, rows: Math.ceil(number / columns), cell: width / columns };
  }

  const seriesItems = (spec, theme) => spec.series.map((one, i) => ({
    name: one.name, fill: strokeOf(theme, i), dash: dashOf(theme, i), mark: i, line: true }));

  function drawLines(spec, theme, width) {
    const { columns, cell } = grid(spec, width, spec.panels.length > 1 ? 250 : 300);
    const head = legend(seriesItems(spec, theme), width, theme, 8);
    let [low, most] = extent(spec);
    if (spec.signed) { low = Math.min(low, 0); most = Math.max(most, 0); }
    const ticks = ticksOf(low, most, 6);
    const first = ticks[0], last = ticks[ticks.length - 1];
    const single = spec.panels.length === 1, high = single ? 260 : 170, top = single ? 10 : 30;
    const row = top + high + 34;
    let out = head.svg, bottom = 0;
    spec.panels.forEach((panel, p) => {
      const left = (p % columns) * cell + 42, start = head.height + Math.floor(p / columns) * row + top;
      const inner = cell - 42 - 16, number = panel.labels.length;
      const x = (i) => left + (number > 1 ? 12 + (i / (number - 1)) * (inner - 24) : inner / 2);
      const y = (value) => start + (1 - (value - first) / (last - first)) * high;
      bottom = Math.max(bottom, start + high + 28);
      if (panel.title) out += text(left, start - 12, panel.title, { fill: theme.ink, weight: "700", size: 12.5 });
      for (const tick of ticks) {
        const zero = spec.signed && tick === 0;
        out += line(left, y(tick), left + inner, y(tick), zero ? theme.axis : theme.grid);
        out += text(left - 6, y(tick), tickText(tick), { fill: theme.muted, size: 11, anchor: "end", middle: true });
      }
      panel.labels.forEach((name, i) => {
        out += text(x(i), start + high + 17, fitted(name, 11, inner / number), {
          fill: theme.muted, size: 11, anchor: "middle", full: name });
      });
      spec.series.forEach((one, s) => {
        const stroke = strokeOf(theme, s), dash = dashOf(theme, s);
        const own = one.values[p], shift = (s - (spec.series.length - 1) / 2) * Math.min(3, 18 / spec.series.length);
        let path = "", open = false;
        own.forEach((value, i) => {
          if (!value) { open = false; return; }
          path += `${open ? "L" : "M"}${r(x(i))} ${r(y(value[0]))}`;
          open = true;
          if (value[1] !== null) {
            out += line(x(i) + shift, y(value[1]), x(i) + shift, y(value[2]), stroke, ' stroke-width="1.3" stroke-opacity="0.75"');
          }
        });
        out += `<path d="${path}" fill="none" stroke="${stroke}" stroke-width="2"${dash ? ` stroke-dasharray="${dash}"` : ""}/>`;
        own.forEach((value, i) => {
          if (!value) return;
          const title = `<title>${esc(one.name + " · " + panel.labels[i] + ": " + spec.say(value, one))}</title>`;
          out += `<g>${title}${marker(s, x(i), y(value[0]), 4, stroke, theme.paper)}</g>`;
        });
      });
    });
    return { svg: out, height: bottom };
  }

  function drawRadar(spec, theme, width) {
    const { columns, cell } = grid(spec, width, 330);
    const head = legend(seriesItems(spec, theme), width, theme, 8);
    const [, most] = extent(spec), ticks = ticksOf(0, most, 4), last = ticks[ticks.length - 1];
    const side = Math.min(cell, 400), radius = side / 2 - 58, row = 2 * radius + 84;
    let out = head.svg;
    spec.panels.forEach((panel, p) => {
      const cx = (p % columns) * cell + cell / 2;
      const cy = head.height + Math.floor(p / columns) * row + radius + 58;
      const number = panel.labels.length;
      const spot = (i, value) => {
        const angle = (2 * Math.PI * i) / number - Math.PI / 2, length = (value / last) * radius;
        return [cx + length * Math.cos(angle), cy + length * Math.sin(angle)];
      };
      const ring = (value) => panel.labels.map((_, i) => spot(i, value).map(r).join(" ")).join("L");
      if (panel.title) {
        out += text(cx, cy - radius - 36, panel.title, { fill: theme.ink, weight: "700", size: 12.5, anchor: "middle" });
      }
      for (const tick of ticks.slice(1)) {
        out += `<path d="M${ring(tick)}Z" fill="none" stroke="${theme.grid}"/>`;
      }
      panel.labels.forEach((name, i) => {
        const [x, y] = spot(i, last), [tx, ty] = spot(i, last * (1 + 14 / radius));
        out += line(cx, cy, x, y, theme.grid);
        const anchor = Math.abs(tx - cx) < 6 ? "middle" : tx > cx ? "start" : "end";
        const room = anchor === "middle" ? side : cell / 2 - Math.abs(tx - cx);
        out += text(tx, ty + (Math.abs(tx - cx) < 6 ? (ty < cy ? -2 : 6) : 0), fitted(name, 11.5, room), {
          fill: theme.ink, size: 11.5, anchor, middle: true, full: name });
      });
      for (const tick of ticks.slice(1)) {
        const [x, y] = spot(0, tick);
        out += text(x + 4, y + 1, tickText(tick), { fill: theme.muted, size: 10, middle: true });
      }
      spec.series.forEach((one, s) => {
        const stroke = strokeOf(theme, s), dash = dashOf(theme, s), own = one.values[p];
        const whole = own.every((value) => value);
        let path = "", open = false;
        own.forEach((value, i) => {
          if (!value) { open = false; return; }
          path += (open ? "L" : "M") + spot(i, value[0]).map(r).join(" ");
          open = true;
        });
        if (!path) return;
        out += `<path d="${path}${whole ? "Z" : ""}" fill="${whole ? stroke : "none"}" fill-opacity="${spec.series.length > 3 ? 0 : 0.08}" ` +
          `stroke="${stroke}" stroke-width="2"${dash ? ` stroke-dasharray="${dash}"` : ""}/>`;
        own.forEach((value, i) => {
          if (!value) return;
          const [x, y] = spot(i, value[0]);
          if (value[1] !== null) {
            const [x1, y1] = spot(i, Math.max(value[1], 0)), [x2, y2] = spot(i, value[2]);
            out += line(x1, y1, x2, y2, stroke, ' stroke-width="1.3" stroke-opacity="0.6"');
          }
          const title = `<title>${esc(one.name + " · " + panel.labels[i] + ": " + spec.say(value, one))}</title>`;
          out += `<g>${title}${marker(s, x, y, 3.6, stroke, theme.paper)}</g>`;
        });
      });
    });
    const rows = Math.ceil(spec.panels.length / columns);
    return { svg: out, height: head.height + rows * row + 8 };
  }

  const KINDS = { bars: drawBars, inside: drawBars, dots: drawDots, heat: drawHeat,
    lines: drawLines, radar: drawRadar };

  // Return what a chart shows in a sentence or two.
  function describe(spec) {
    const words = WORDS[spec.language] || WORDS.en;
    let best = null;
    for (const one of spec.series) one.values.forEach((panel, p) => panel.forEach((value, i) => {
      if (value && (!best || value[0] > best[0])) {
        best = [value[0], one, [spec.panels[p].title, spec.panels[p].labels[i]].filter(Boolean).join(", "), value];
      }
    }));
    const [stop, colon, comma] = words.marks;
    if (!best) return `${spec.title}${stop}${words.none}`;
    const number = `${spec.series.length} ${words.of}`, of = `${best[1].name}${comma}${best[2]}`;
    const value = spec.say(best[3], best[1]);
    return `${spec.title}${stop}${number}${stop}${words.best}${colon}${of}${colon}${value}${stop.trim()}`;
  }

  // The number of an effective length, in steps, as text; `longest`: where the entry's questions end.
  function lengthText(ladder, steps, language, longest) {
    const last = longest ?? ladder.labels.length - 1, ends = steps >= last - 1e-6;
    const own = ladder.shortest ? `${Math.round(ladder.shortest * Math.pow(2, steps))}k`
      : at(ladder.labels[Math.floor(steps + 1e-9)], language).replace(/ ?[(（].*/, "");
    return (ends && !own.endsWith("+") ? "≥" : "") + own;
  }

  function modeText(benchmark, mode, language) {
    const own = benchmark.modes.find((one) => one[0] === mode);
    return own ? at(own[1], language) : mode;
  }
  // Digits behind the point: a published row has no more than were published.
  const digitsOf = (benchmark, entry) => Math.min(benchmark.decimals, entry.decimals ?? benchmark.decimals);
  const nameOf = (benchmark, entry, language) => (benchmark.modes.length > 1
    ? `${entry.model} – ${modeText(benchmark, entry.mode, language)}` : entry.model);

  // Return what to draw of a benchmark's chart for some of its entries.
  function specOf(benchmark, name, entries, language) {
    const chart = benchmark.charts.find((own) => own.name === name);
    const ladder = { effective: benchmark.ladder, tokens: benchmark.tokens }[chart.axis] || null;
    const decimals = benchmark.decimals;
    const sign = (value) => (chart.signed && value > 0 ? "+" : "");
    const one = (value, own) => ladder ? lengthText(ladder, value, language, chart.axis === "tokens" && own ? own.longest : null)
      : sign(value) + shown(value, own ? own.decimals : decimals);
    const spec = {
      kind: chart.kind, name, language, signed: chart.signed, decimals,
      title: at(chart.title, language), subtitle: benchmark.title,
      axis: ladder ? ladder.labels.map((own) => at(own, language)) : null,
      panels: chart.panels.map((panel) => ({
        title: at(panel.title, language), labels: panel.points.map((p) => at(p.label, language)) })),
      short: (value, own) => one(value[0], own),
      say: (value, own) => one(value[0], own) +
        (value[1] === null ? "" : ` [${one(value[1], own)}, ${one(value[2], own)}]`),
      series: [],
    };
    const modes = benchmark.modes.length;
    entries.forEach((index) => {
      const entry = benchmark.entries[index];
      const values = chart.panels.map((panel) => panel.points.map((p) => entry.values[p.at]));
      if (values.some((panel) => panel.some((value) => value))) {
        const mode = modes > 1 ? modeText(benchmark, entry.mode, language) : "";
        spec.series.push({ name: nameOf(benchmark, entry, language), model: entry.model, mode,
          run: entry.run, values, longest: entry.longest, decimals: digitsOf(benchmark, entry) });
      }
    });
    if (["dots", "bars", "inside", "heat"].includes(chart.kind)) {
      const key = (own) => (own.values[0][0] ? own.values[0][0][0] : -Infinity);
      spec.series.sort((a, b) => key(b) - key(a));
    }
    return spec;
  }

  // Rows of a leaderboard: the entries of one model, runs apart from published rows.
  function rowsOf(benchmark) {
    const rows = new Map();
    benchmark.entries.forEach((entry, index) => {
      const key = (entry.run ? "r:" : "p:") + entry.model;
      const row = rows.get(key) || { key, model: entry.model, run: entry.run, entries: {}, all: [] };
      row.entries[entry.mode] = index;
      row.all.push(index);
      rows.set(key, row);
    });
    return [...rows.values()];
  }

  // A row's best score, by which charts order models.
  function bestOf(benchmark, row) {
    if (!benchmark.headline.length) return -Infinity;
    const own = row.all.map((index) => benchmark.entries[index].values[benchmark.headline[0].at]);
    return Math.max(-Infinity, ...own.filter(Boolean).map((value) => value[0]));
  }
  const byScore = (benchmark, rows) => [...rows].sort((a, b) => bestOf(benchmark, b) - bestOf(benchmark, a));

  // What charts show first: some runs, and the best published rows.
  function chosenFirst(benchmark) {
    const rows = rowsOf(benchmark), runs = rows.filter((row) => row.run).slice(0, 6);
    const best = byScore(benchmark, rows.filter((row) => !row.run));
    return [...runs, ...best.slice(0, Math.max(5 - runs.length, runs.length ? 3 : 5))];
  }

  // Return a chart as a file: its SVG, of the named models or of those that a page shows first.
  function fileOf(benchmark, name, language, models) {
    const rows = models ? rowsOf(benchmark).filter((row) => models.includes(row.model)) : chosenFirst(benchmark);
    const spec = specOf(benchmark, name, byScore(benchmark, rows).flatMap((row) => row.all), language);
    return draw(spec, { width: spec.panels.length > 1 ? 1100 : 860, theme: "light", titled: true });
  }

  // Return the rows of a chart's table, the header first.
  function tableOf(spec) {
    const head = [""], rows = [head];
    spec.panels.forEach((panel) => panel.labels.forEach((label) =>
      head.push([panel.title, label].filter(Boolean).join(" · "))));
    for (const one of spec.series) {
      rows.push([one.name, ...one.values.flat().map((value) => (value ? spec.say(value, one) : "–"))]);
    }
    return rows;
  }

  // Return a chart's numbers as CSV: one line a number, with its interval.
  function csvOf(spec) {
    const cell = (value) => {
      let own = value === null || value === undefined ? "" : String(value);
      if (typeof value === "string" && /^[=+\-@\t\r]/.test(own)) own = "'" + own;
      return /[",\n\r]/.test(own) ? '"' + own.replace(/"/g, '""') + '"' : own;
    };
    const rows = [["model", "panel", "point", "value", "low", "high", "n"]];
    for (const one of spec.series) one.values.forEach((panel, p) => panel.forEach((value, i) => {
      if (value) rows.push([one.name, spec.panels[p].title, spec.panels[p].labels[i], ...value]);
    }));
    return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
  }

  // Return the SVG of a specification. Options: width, theme ("light", "dark"), titled.
  function draw(spec, options) {
    const theme = THEMES[options.theme] || THEMES.light, pad = options.titled ? 18 : 4;
    const width = Math.max(options.width, 260), inner = width - 2 * pad;
    const words = WORDS[spec.language] || WORDS.en;
    let head = "", top = pad;
    if (options.titled) {
      wrapped(spec.title, 16, inner, 3).forEach((own) => {
        head += text(0, top + 14, own, { fill: theme.ink, size: 16, weight: "700" });
        top += 21;
      });
      head += text(0, top + 8, spec.subtitle, { fill: theme.muted, size: 12 });
      top += 26;
    }
    let note = "";
    const most = ["lines", "radar"].includes(spec.kind) ? MOST_LINES : MOST_ROWS;
    if (spec.series.length > most) {
      note = words.some.replace("{n}", most).replace("{m}", spec.series.length);
      spec = { ...spec, series: spec.series.slice(0, most) };
    }
    const body = spec.series.length ? KINDS[spec.kind](spec, theme, inner)
      : { svg: text(0, 20, words.none, { fill: theme.muted }), height: 36 };
    if (note) {
      body.svg += text(0, body.height + 14, note, { fill: theme.muted, size: 11.5 });
      body.height += 22;
    }
    const height = Math.ceil(top + body.height + pad);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${r(width)}" height="${height}" ` +
      `viewBox="0 0 ${r(width)} ${height}" role="img" font-family="${esc(SANS)}">` +
      `<title>${esc(spec.title)}</title><desc>${esc(describe(spec))}</desc>` +
      (options.titled ? rect(0, 0, width, height, theme.paper) : "") +
      `<g transform="translate(${pad} 0)">${head}</g>` +
      `<g transform="translate(${pad} ${r(top)})">${body.svg}</g></svg>`;
  }

  root.LongBenchCharts = { draw, specOf, nameOf, digitsOf, modeText, rowsOf, bestOf, byScore, chosenFirst, fileOf, tableOf, csvOf, describe, lengthText, at, shown };
})(typeof globalThis === "undefined" ? this : globalThis);
