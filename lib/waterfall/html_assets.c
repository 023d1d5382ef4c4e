/* Style and script of the HTML picture. The colours are those of Okabe and Ito, which people with
   any colour vision tell apart; what is open-ended is dashed as well. The script only
   adds: without it the picture and the tables are there, and zoom and hover are not. */
#include "waterfall/html_assets.h"

#include <stddef.h>

const char *const html_style[] = {
    ":root{--bg:#fff;--fg:#1b1b1b;--soft:#595959;--line:#d0d0d0;--panel:#f4f4f4;--focus:#00"
    "50b3}",
    ":root{--synth:#e69f00;--device:#0072b2;--wait:#9a9a9a;--after:#009e73;--before:#cfcfcf"
    ";--open:#d55e00}",
    ":root{--srs:#56b4e9;--lock:#d55e00;--finish:#009e73;--dispatch:#a6761d;--lookahead:#f0"
    "e442;--budget:#cc79a7}",
    ":root{--parse:#7a5fb0;--admit:#b8a2dd;--nothing:#e4e4e4;--unknown:#222}",
    "@media(prefers-color-scheme:dark){:root:not([data-theme=light]){--bg:#16181b;--fg:#ece"
    "cec;--soft:#b0b0b0;",
    "--line:#44484d;--panel:#22262a;--focus:#8ab4ff;--device:#3f9fdc;--before:#4a4e53;--not"
    "hing:#303438;--unknown:#fff}}",
    ":root[data-theme=dark]{--bg:#16181b;--fg:#ececec;--soft:#b0b0b0;--line:#44484d;--panel"
    ":#22262a;",
    "--focus:#8ab4ff;--device:#3f9fdc;--before:#4a4e53;--nothing:#303438;--unknown:#fff}",
    "*{box-sizing:border-box}",
    "body{margin:0 auto;max-width:1500px;padding:1rem;background:var(--bg);color:var(--fg);",
    "font:15px/1.5 system-ui,sans-serif}",
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.25rem;margin:2rem 0 .25rem}h3{font-size:1r"
    "em;margin:1.25rem 0 .25rem}",
    "a{color:var(--focus)}",
    "header{display:flex;gap:1rem;align-items:baseline;flex-wrap:wrap}",
    "header p{margin:0;color:var(--soft)}",
    "button{font:inherit;padding:.15rem .6rem;color:var(--fg);background:var(--panel);borde"
    "r:1px solid var(--soft);border-radius:4px}",
    ":focus-visible{outline:3px solid var(--focus);outline-offset:1px}",
    ".verdict{border-left:5px solid var(--device);background:var(--panel);padding:.6rem .9r"
    "em;margin:.5rem 0}",
    ".warn{border-left-color:var(--open)}",
    ".scroll{overflow-x:auto}",
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}",
    "th,td{padding:.15rem .6rem;border-bottom:1px solid var(--line);text-align:right}",
    "th:first-child,td:first-child,.words{text-align:left}",
    ".legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;list-style:none;padding:0;margin:.4"
    "rem 0;font-size:.85rem}",
    ".legend svg{width:14px;height:14px;vertical-align:-2px;margin-right:.3rem;border:1px s"
    "olid var(--soft)}",
    ".tools{display:flex;gap:.4rem;flex-wrap:wrap;align-items:center;margin:.4rem 0}",
    ".tools span{color:var(--soft);font-size:.85rem}",
    ".chart{display:grid;grid-template-columns:13rem 1fr;border:1px solid var(--line)}",
    ".names{overflow:hidden;border-right:1px solid var(--line)}",
    ".names div{height:14px;line-height:14px;font-size:11px;padding:0 .3rem;white-space:now"
    "rap;overflow:hidden;text-overflow:ellipsis}",
    ".names .dev{height:24px;line-height:24px;font-weight:600}",
    ".names .job{font-weight:600;border-top:1px solid var(--line)}",
    ".plot{display:block;width:100%;cursor:crosshair;touch-action:pan-y}",
    ".axis{grid-column:2;display:flex;justify-content:space-between;font-size:11px;color:va"
    "r(--soft);padding:0 2px;border-top:1px solid var(--line)}",
    ".levels{display:block;width:100%;height:90px;border:1px solid var(--line)}",
    ".levels polyline{fill:none;stroke-width:1.5;vector-effect:non-scaling-stroke}",
    ".c-synth,.i-synthesis{fill:var(--synth)}.c-device{fill:var(--device)}.c-wait{fill:var("
    "--wait)}",
    ".c-after,.i-finish,.i-reply{fill:var(--after)}.c-before{fill:var(--before)}",
    ".c-open{fill:none;stroke:var(--open);stroke-width:2;stroke-dasharray:4 3;"
    "vector-effect:non-scaling-stroke}.i-unknown,.i-unrecorded{fill:var(--unknown)}",
    ".i-srs_load{fill:var(--srs)}.i-lock{fill:var(--lock)}.i-dispatch{fill:var(--dispatch)}",
    ".i-lookahead{fill:var(--lookahead)}.i-budget{fill:var(--budget)}.i-parse{fill:var(--pa"
    "rse)}",
    ".i-admission{fill:var(--admit)}.i-nothing_submitted{fill:var(--nothing)}",
    "rect.here{stroke:var(--fg);stroke-width:2;vector-effect:non-scaling-stroke}",
    ".l-jobs{stroke:var(--fg);stroke-dasharray:6 3}.l-synth{stroke:var(--synth)}.l-ready{st"
    "roke:var(--soft);stroke-dasharray:2 2}",
    ".l-device{stroke:var(--device)}",
    "#tip{position:fixed;pointer-events:none;background:var(--fg);color:var(--bg);font-size"
    ":12px;padding:.25rem .5rem;",
    "border-radius:4px;max-width:30rem;z-index:2}",
    ".quiet{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}",
    "@media print{button,.tools{display:none}}",
    NULL,
};

const char *const html_script[] = {
    "'use strict';",
    "(() => {",
    "const tip = document.getElementById('tip'), live = document.getElementById('live');",
    "const root = document.documentElement;",
    "const seconds = ms => (ms / 1000).toFixed(ms < 10000 ? 3 : 1) + ' s';",
    "document.getElementById('theme').addEventListener('click', () => {",
    "  const dark = root.dataset.theme ? root.dataset.theme === 'dark'",
    "                                  : matchMedia('(prefers-color-scheme: dark)').matches;",
    "  root.dataset.theme = dark ? 'light' : 'dark';",
    "});",
    "const reload = document.getElementById('reload');",
    "if (reload) {",
    "  let timer = 0;",
    "  reload.addEventListener('click', () => {",
    "    clearInterval(timer);",
    "    timer = timer ? 0 : setInterval(() => location.reload(), 5000);",
    "    reload.setAttribute('aria-pressed', timer ? 'true' : 'false');",
    "    sessionStorage.setItem('reload', timer ? '1' : '');",
    "  });",
    "  if (sessionStorage.getItem('reload')) reload.click();",
    "}",
    "const words = rect => {",
    "  const x = +rect.getAttribute('x'), w = +rect.getAttribute('width');",
    "  const plot = rect.closest('.plot'), from = +plot.dataset.start;",
    "  return rect.parentNode.dataset.n + ': ' + (rect.dataset.w || rect.getAttribute('clas"
    "s').slice(2)) +",
    "    ', ' + seconds(w) + ' (' + seconds(from + x) + ' to ' + seconds(from + x + w) + ')';",
    "};",
    "document.querySelectorAll('.plot').forEach(plot => {",
    "  const total = +plot.dataset.total, height = plot.viewBox.baseVal.height;",
    "  const axis = plot.closest('.chart').querySelector('.axis');",
    "  const rects = [...plot.querySelectorAll('rect')];",
    "  let from = 0, width = total, here = -1;",
    "  const show = () => {",
    "    width = Math.min(total, Math.max(total / 20000, width));",
    "    from = Math.min(total - width, Math.max(0, from));",
    "    plot.setAttribute('viewBox', from + ' 0 ' + width + ' ' + height);",
    "    const start = +plot.dataset.start;",
    "    axis.replaceChildren(...[0, .25, .5, .75, 1].map(f => {",
    "      const mark = document.createElement('span');",
    "      mark.textContent = seconds(start + from + f * width);",
    "      return mark;",
    "    }));",
    "  };",
    "  const zoom = (factor, at) => { from += at * width * (1 - factor); width *= factor; s"
    "how(); };",
    "  const pan = part => { from += part * width; show(); };",
    "  const reset = () => { from = 0; width = total; show(); };",
    "  const go = step => {",
    "    if (!rects.length) return;",
    "    if (here >= 0) rects[here].classList.remove('here');",
    "    here = (here + step + rects.length) % rects.length;",
    "    const rect = rects[here], x = +rect.getAttribute('x'), w = +rect.getAttribute('wid"
    "th');",
    "    rect.classList.add('here');",
    "    if (x < from || x + w > from + width) { from = x + w / 2 - width / 2; show(); }",
    "    live.textContent = words(rect);",
    "    const box = rect.getBoundingClientRect();",
    "    if (box.top < 0 || box.bottom > innerHeight) scrollBy(0, box.top - innerHeight / 2);",
    "    tell(rect, Math.max(box.left, 0), rect.getBoundingClientRect().bottom);",
    "  };",
    "  const tell = (rect, x, y) => {",
    "    tip.textContent = words(rect);",
    "    tip.hidden = false;",
    "    tip.style.left = Math.max(0, Math.min(x + 12, innerWidth - tip.offsetWidth - 8)) +"
    " 'px';",
    "    tip.style.top = Math.min(y + 14, innerHeight - tip.offsetHeight - 4) + 'px';",
    "  };",
    "  plot.addEventListener('keydown', e => {",
    "    if (e.ctrlKey || e.altKey || e.metaKey) return;",
    "    const act = { '+': () => zoom(.5, .5), '=': () => zoom(.5, .5), '-': () => zoom(2,"
    " .5),",
    "      ArrowLeft: () => pan(-.2), ArrowRight: () => pan(.2), Home: reset, '0': reset,",
    "      n: () => go(1), p: () => go(-1), Escape: () => { tip.hidden = true; } }[e.key];",
    "    if (act) { act(); e.preventDefault(); }",
    "  });",
    "  plot.addEventListener('wheel', e => {",
    "    if (!e.ctrlKey && !e.shiftKey) return;",
    "    e.preventDefault();",
    "    const box = plot.getBoundingClientRect();",
    "    zoom(e.deltaY + e.deltaX > 0 ? 1.25 : .8, (e.clientX - box.left) / box.width);",
    "  }, { passive: false });",
    "  let drag = null;",
    "  plot.addEventListener('pointerdown', e => { drag = { x: e.clientX, from }; });",
    "  addEventListener('pointerup', () => { drag = null; });",
    "  plot.addEventListener('pointermove', e => {",
    "    if (drag) {",
    "      from = drag.from - (e.clientX - drag.x) / plot.getBoundingClientRect().width * w"
    "idth;",
    "      show();",
    "    }",
    "    if (e.target.tagName === 'rect') tell(e.target, e.clientX, e.clientY);",
    "    else tip.hidden = true;",
    "  });",
    "  plot.addEventListener('pointerleave', () => { tip.hidden = true; });",
    "  plot.closest('section').querySelectorAll('[data-do]').forEach(button =>",
    "    button.addEventListener('click', () => ({ in: () => zoom(.5, .5), out: () => zoom("
    "2, .5),",
    "      left: () => pan(-.2), right: () => pan(.2), all: reset }[button.dataset.do])()));",
    "  show();",
    "});",
    "})();",
    NULL,
};
