// The browser of answers: unpacked when it is opened first, filtered in memory, a page at a time.
(function (root) {
  "use strict";
  const element = document.getElementById("answers");
  const held = element ? element.textContent.trim() : "";
  const PER_PAGE = 20;
  const [RUN, QUESTION, REPEAT, SCORE, FAILED, CAPPED, , TEXT, ABOUT] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  let all = null, byQuestion = null;
  const filter = { task: "", status: "", run: "", text: "", page: 0 };

  async function unpack() {
    if (all) return;
    const bytes = Uint8Array.from(atob(held), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    all = JSON.parse(await new Response(stream).text());
    byQuestion = all.questions.map(() => []);
    for (const answer of all.answers) byQuestion[answer[QUESTION]].push(answer);
  }

  // Whether two runs have other mean scores of one question.
  function disagree(answers) {
    const sums = new Map();
    for (const one of answers) {
      if (one[SCORE] === null) continue;
      const [sum, n] = sums.get(one[RUN]) || [0, 0];
      sums.set(one[RUN], [sum + one[SCORE], n + 1]);
    }
    const means = [...sums.values()].map(([sum, n]) => sum / n);
    return means.length > 1 && Math.max(...means) - Math.min(...means) > 1e-9;
  }

  const TESTS = {
    failedOnes: (one) => one[FAILED] === 1,
    cappedOnes: (one) => one[CAPPED] === 1,
    wrong: (one) => one[SCORE] === 0,
    partly: (one) => one[SCORE] > 0 && one[SCORE] < 1,
    right: (one) => one[SCORE] === 1,
    unscored: (one) => one[SCORE] === null,
  };

  function matching(benchmark) {
    const tasks = new Set(all.tasks.filter(([, own]) => own === benchmark).map(([name]) => name));
    const search = filter.text.trim().toLowerCase(), test = TESTS[filter.status];
    const run = filter.run === "" ? null : Number(filter.run);
    const found = [];
    all.questions.forEach((question, number) => {
      if (!tasks.has(question.task) || (filter.task && question.task !== filter.task)) return;
      const answers = byQuestion[number], own = run === null ? answers : answers.filter((one) => one[RUN] === run);
      if (!own.length) return;
      if (filter.status === "disagree" ? !disagree(answers) : test && !own.some(test)) return;
      if (search && !question.id.toLowerCase().includes(search) &&
        !question.golds.some((gold) => gold.toLowerCase().includes(search)) &&
        !own.some((one) => (one[TEXT] || "").toLowerCase().includes(search))) return;
      found.push(number);
    });
    return found;
  }

  function section(data, state, tools) {
    if (!held) return null;
    const { h, t, named, fixed } = tools;
    const benchmark = data.benchmarks[state.at].name;
    const place = h("div", { id: "answers-list" }), bar = h("div", { className: "head tools" });
    const note = h("span", { className: "sub", id: "answers-count", role: "status" });

    function answerNode(one) {
      const marks = [`${all.runs[one[RUN]]}, ${t("repeat", { n: one[REPEAT] })}`,
        `${t("score")} ${one[SCORE] === null ? t("unscored") : fixed(100 * one[SCORE], 2)}`,
        one[FAILED] ? t("failedOnes") : "", one[CAPPED] ? t("cappedOnes") : "", one[ABOUT]].filter(Boolean);
      return h("div", {}, h("h4", {}, t("answer") + ": ", named(marks.join(" · "))),
        h("pre", { dir: "auto", tabIndex: 0 }, one[TEXT] === null ? "–" : one[TEXT]));
    }
    function show() {
      const found = matching(benchmark), pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
      filter.page = Math.min(filter.page, pages - 1);
      note.textContent = t("found", { n: found.length, p: filter.page + 1, q: pages });
      const own = found.slice(filter.page * PER_PAGE, (filter.page + 1) * PER_PAGE);
      place.replaceChildren(...own.map((number) => {
        const question = all.questions[number];
        return h("div", { className: "answer" },
          h("h3", {}, named(`${question.task} · ${question.id}`)),
          question.prompt.length ? h("details", {}, h("summary", {}, t("prompt")),
            h("pre", { dir: "auto", tabIndex: 0 }, question.prompt.join("\n[...]\n"))) : null,
          h("h4", {}, t("gold")), h("pre", { dir: "auto", tabIndex: 0 }, question.golds.join("\n")),
          h("div", { className: "pair" }, byQuestion[number].map(answerNode)));
      }), h("div", { className: "tools few" },
        h("button", { type: "button", id: "answers-previous", disabled: filter.page === 0, onclick: () => { filter.page -= 1; show(); } }, t("previous")),
        h("button", { type: "button", id: "answers-next", disabled: filter.page >= pages - 1, onclick: () => { filter.page += 1; show(); } }, t("next"))));
    }
    function controls() {
      const choice = (id, key, label, options) => h("label", {}, label, h("select", { id, onchange: (event) => {
        filter[key] = event.target.value;
        filter.page = 0;
        show();
      } }, options.map(([value, text]) => h("option", { value, selected: filter[key] === value }, text))));
      const tasks = all.tasks.filter(([, own]) => own === benchmark).map(([name]) => [name, name]);
      if (!tasks.some(([name]) => name === filter.task)) filter.task = "";
      const status = [...Object.keys(TESTS).slice(0, 2), ...(all.runs.length > 1 ? ["disagree"] : []), ...Object.keys(TESTS).slice(2)];
      bar.replaceChildren(choice("answers-task", "task", t("task"), [["", t("all")], ...tasks]),
        choice("answers-status", "status", t("status"), [["", t("all")], ...status.map((key) => [key, t(key)])]),
        all.runs.length > 1 ? choice("answers-run", "run", t("whose"), [["", t("all")], ...all.runs.map((name, i) => [String(i), name])]) : "",
        h("label", {}, h("span", { className: "vh" }, t("text")), h("input", { type: "search", id: "answers-text", placeholder: t("text"), value: filter.text,
          oninput: (event) => { filter.text = event.target.value; filter.page = 0; show(); } })), note);
    }
    async function open() {
      if (typeof DecompressionStream === "undefined") {
        place.replaceChildren(h("p", {}, t("old")));
        return;
      }
      if (!all) place.replaceChildren(h("p", { className: "sub" }, t("loading")));
      await unpack();
      controls();
      show();
    }
    const box = h("details", { id: "answers-box", ontoggle: (event) => { if (event.target.open) open(); } },
      h("summary", {}, t("answers")), bar, place);
    if (all) box.open = state.answersOpen === true;
    box.addEventListener("toggle", () => { state.answersOpen = box.open; });
    return h("section", { "aria-label": t("answers") }, box);
  }

  root.LongBenchAnswers = { section };
})(globalThis);
