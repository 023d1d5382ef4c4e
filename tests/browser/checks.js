// Runs inside the page under test and leaves what it found in <pre id="result">, one finding a
// line; "done" when it came to its end. The rules are those that axe checks on such a page.
'use strict';
(async () => {
  const found = [];
  const expect = (ok, what) => { if (!ok) found.push('WRONG ' + what); };
  addEventListener('error', e => found.push('WRONG script error: ' + e.message));
  const all = selector => [...document.querySelectorAll(selector)];
  const press = (element, key, more) =>
    element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, ...more }));

  // Structure.
  expect(document.documentElement.lang === 'en', 'the language is not named');
  expect(document.title.length > 0, 'there is no title');
  expect(all('h1').length === 1, 'there is not one h1');
  expect(all('main').length === 1 && all('header').length === 1, 'landmarks');
  let level = 0;
  for (const heading of all('h1,h2,h3,h4')) {
    const now = +heading.tagName[1];
    expect(now <= level + 1, 'heading levels skip at ' + heading.textContent);
    level = now;
  }
  const ids = all('[id]').map(e => e.id);
  expect(new Set(ids).size === ids.length, 'ids are not unique');
  for (const attribute of ['aria-labelledby', 'aria-describedby'])
    for (const e of all('[' + attribute + ']'))
      for (const id of e.getAttribute(attribute).split(' '))
        expect(document.getElementById(id), attribute + ' names nothing: ' + id);
  for (const e of all('button')) expect(e.textContent.trim(), 'a button without name');
  for (const e of all('svg'))
    expect(e.getAttribute('aria-hidden') === 'true' || e.getAttribute('aria-label'),
           'an svg without name');
  for (const e of all('th')) expect(e.scope, 'a th without scope');
  for (const e of all('table')) expect(e.querySelector('thead th'), 'a table without head');
  for (const e of all('[tabindex]')) expect(+e.getAttribute('tabindex') <= 0, 'tabindex above 0');
  for (const e of all('[aria-hidden=true]'))
    expect(!e.querySelector('button,a,[tabindex="0"]'), 'something hidden can be focused');
  expect(all('[src],link[href^=http],script[src]').length === 0, 'the page loads something');

  // Contrast of text, WCAG AA, in both themes.
  const parse = colour => colour.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(c => c / 255)
      .map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * x + .7152 * y + .0722 * z;
  };
  const background = e => {
    for (; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  for (const theme of ['light', 'dark']) {
    document.documentElement.dataset.theme = theme;
    for (const e of all('h1,h2,h3,p,button,span,td,th,summary,li,.names div')) {
      const a = light(parse(getComputedStyle(e).color)), b = light(background(e));
      const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
      expect(ratio >= 4.5, 'contrast ' + ratio.toFixed(1) + ' of ' + e.tagName + ' in ' + theme);
    }
  }
  const before = document.documentElement.dataset.theme;
  document.getElementById('theme').click();
  expect(document.documentElement.dataset.theme !== before, 'the theme button does nothing');
  delete document.documentElement.dataset.theme;

  // The picture: lanes are where their names are.
  const plot = document.querySelector('.plot'), tip = document.getElementById('tip');
  const names = [...plot.closest('.chart').querySelectorAll('.names div')];
  const lanes = [...plot.querySelectorAll('g')];
  expect(names.length === lanes.length, names.length + ' names, ' + lanes.length + ' lanes');
  names.forEach((name, i) => {
    const rect = lanes[i] && lanes[i].querySelector('rect');
    if (!rect) return;
    const a = name.getBoundingClientRect(), b = rect.getBoundingClientRect();
    expect(b.top >= a.top - 1.5 && b.bottom <= a.bottom + 1.5,
           'lane ' + i + ' is not beside its name');
  });

  // Zoom, movement and reading with the keyboard, the buttons, the wheel and the pointer.
  const width = () => plot.viewBox.baseVal.width, from = () => plot.viewBox.baseVal.x;
  const total = +plot.dataset.total;
  plot.focus();
  expect(document.activeElement === plot, 'the picture takes no focus');
  press(plot, '+');
  expect(Math.abs(width() - total / 2) < 1, 'the + key');
  const at = from();
  press(plot, 'ArrowRight');
  expect(from() > at, 'the right arrow');
  press(plot, '+', { ctrlKey: true });
  expect(Math.abs(width() - total / 2) < 1, 'Ctrl and + belong to the browser');
  press(plot, '0');
  expect(width() === total && from() === 0, 'the 0 key');
  document.querySelector('[data-do=in]').click();
  expect(Math.abs(width() - total / 2) < 1, 'the zoom button');
  for (let i = 0; i < 60; i++) press(plot, '+');
  expect(width() > 0 && width() < total / 10000, 'there is no end of zooming in');
  document.querySelector('[data-do=all]').click();
  expect(width() === total, 'the button for the whole run');
  const wheel = ctrlKey => plot.dispatchEvent(
    new WheelEvent('wheel', { deltaY: -100, ctrlKey, bubbles: true, cancelable: true }));
  wheel(true);
  expect(width() < total, 'Ctrl and wheel');
  const zoomed = width();
  wheel(false);
  expect(width() === zoomed, 'the wheel alone scrolls the page');
  press(plot, 'Home');
  press(plot, 'n');
  const read = document.getElementById('live').textContent;
  expect(/^device \d+: .+ s \(.+ to .+\)$/.test(read), 'n reads out: ' + read);
  press(plot, 'p');
  press(plot, 'Escape');
  expect(tip.hidden, 'Escape hides the words');
  const span = plot.querySelector('.c-synth');
  span.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: 9, clientY: 9 }));
  expect(!tip.hidden && /synthesis/.test(tip.textContent), 'hovering says: ' + tip.textContent);
  plot.dispatchEvent(new PointerEvent('pointerleave'));
  expect(tip.hidden, 'leaving hides the words');

  // How long a redraw takes, for people to read.
  const started = performance.now();
  for (let i = 0; i < 40; i++) { press(plot, i < 20 ? '+' : '-'); plot.getBoundingClientRect(); }
  found.push('a zoom step takes ' + ((performance.now() - started) / 40).toFixed(2) + ' ms with ' +
             plot.querySelectorAll('rect').length + ' rectangles');
  press(plot, '0');

  const result = document.createElement('pre');
  result.id = 'result';
  result.textContent = 'RESULT\n' + found.join('\n') + '\ndone\n';
  document.body.append(result);
})();
