"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  // Figures name colours as custom properties of the style sheet, so that they follow its scheme.
  // "--hue3-soft" is --hue3 at a third of its strength.
  function coloured(value, style) {
    if (typeof value === "string" && value.startsWith("--")) {
      const colour = style.getPropertyValue(value.replace(/-soft$/, "")).trim();
      return value.endsWith("-soft") ? colour + "55" : colour;
    }
    if (Array.isArray(value)) return value.map((item) => coloured(item, style));
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, style)]));
    }
    return value;
  }

  function axis(settings, style) {
    const base = {
      gridcolor: "--faint", zerolinecolor: "--line", linecolor: "--line", tickcolor: "--line", ticks: "outside",
      ticklen: 4, showgrid: false, zeroline: false, title: {font: {size: 11}}, tickfont: {size: 11},
    };
    return coloured({...base, ...settings, title: {...base.title, ...settings.title}}, style);
  }

  function layout(figure, style) {
    const result = coloured(figure.layout, style);
    for (const name of Object.keys(result)) {
      if (/^[xy]axis\d*$/.test(name)) result[name] = axis(figure.layout[name], style);
    }
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, dragmode: "zoom",
      font: {family: getComputedStyle(document.body).fontFamily, size: 12, color: style.getPropertyValue("--muted").trim()},
      hoverlabel: coloured({bgcolor: "--surface", bordercolor: "--line", font: {color: "--ink", size: 12}, align: "left"}, style),
      ...result,
    };
  }

  function draw() {
    const style = getComputedStyle(document.documentElement);
    for (const element of document.querySelectorAll(".chart")) {
      const figure = data.figures[element.dataset.figure];
      Plotly.react(element, coloured(figure.data, style), layout(figure, style), {responsive: true, displayModeBar: false});
    }
  }

  draw();
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", draw);
  }

  // A chain is shown while the pointer is on it, and stays after a click.
  const drawing = document.querySelector(".drawing svg");
  let chosen = null;

  function show(chain) {
    if (drawing) {
      drawing.classList.toggle("focused", chain !== null);
      for (const element of drawing.querySelectorAll(".on")) element.classList.remove("on");
      for (const id of chain === null ? [] : data.chains[chain]) drawing.getElementById(id)?.classList.add("on");
    }
  }

  function choose(chain) {
    chosen = chosen === chain ? null : chain;
    for (const element of document.querySelectorAll("[data-chain]")) {
      const selected = chosen !== null && Number(element.dataset.chain) === chosen;
      element.classList.toggle("selected", selected);
      if (element.hasAttribute("aria-pressed")) element.setAttribute("aria-pressed", String(selected));
    }
    show(chosen);
  }

  for (const element of document.querySelectorAll("[data-chain]")) {
    const chain = Number(element.dataset.chain);
    if (element.tagName === "BUTTON") element.addEventListener("click", () => choose(chain));
    element.addEventListener("pointerenter", () => show(chain));
    element.addEventListener("pointerleave", () => show(chosen));
  }
})();
