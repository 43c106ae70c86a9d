// The page of a session: it draws what the session answers and sends what the user does; all state worth keeping is the
// session's. In a browser messages go by HTTP, in a notebook through the kernel: see the end.

const INK = "#23303d", FAINT = "#8a96a3", GRID = "#e3e8ee", QUERY = "#0b62c4", NO_CLASS = "#7a7f87";
const GUTTER = 74, AXIS = 20; // pixels left of the channels and below them
const FEWEST = 8; // samples in view at the highest zoom
const FIRST_STEP = "Hold shift and drag over a pattern.", FIRST = `No matches yet. ${FIRST_STEP} Then press Search.`;

/** Make an element; of its attributes, functions are listeners. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const clamp = (value, low, high) => Math.max(low, Math.min(value, high));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const whole = (number) => Math.round(number).toLocaleString("en");

const least = (values) => values.reduce((a, b) => (b < a ? b : a), Infinity); // of those that are not missing
const most = (values) => values.reduce((a, b) => (b > a ? b : a), -Infinity);
const floats = (array) => new Float32Array(Uint8Array.from(atob(array.f32), (letter) => letter.charCodeAt(0)).buffer);

/** A number as people read it: three digits or some more, or a dash where there is no number. */
function short(number, digits = 4) {
  if (!Number.isFinite(number)) return "–";
  const plain = number === 0 || (Math.abs(number) >= 1e-3 && Math.abs(number) < 1e6);
  return plain ? String(Number(number.toPrecision(digits))) : number.toExponential(1);
}

/** Return what sends one message at a time; what is asked meanwhile is sent once, as it is to be by then. */
function newest(call, make, use) {
  let busy = false, wanted = false;
  return async function ask() {
    wanted = true;
    if (busy) return;
    busy = true;
    while (wanted) {
      wanted = false;
      const message = make(), answer = await call(message);
      if (answer) use(answer, message);
    }
    busy = false;
  };
}

/** Give a canvas as many pixels as the screen has where it stands; return its context, width and height. */
function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  return { context, width, height };
}

/** Draw a small picture: a row per channel, from its lowest to its highest value, over that of the query. */
function drawPicture(canvas, channels, above, below) {
  const { context, width, height } = prepare(canvas), tall = (height - 6) / channels.length;
  for (const shown of [below, above].filter(Boolean)) channels.forEach((channel, row) => {
    const { picture, points } = shown, line = picture.subarray(channel * points, (channel + 1) * points);
    const low = least(line), range = most(line) - low || 1;
    context.strokeStyle = shown === below ? "#cdd5de" : INK;
    context.lineWidth = shown === below ? 3 : 1.4;
    context.beginPath();
    line.forEach((value, i) => {
      const x = 4 + ((width - 8) * (i + 0.5)) / points, y = 5 + tall * (row + 1) - ((tall - 4) * (value - low)) / range;
      if (!Number.isNaN(value)) context[i > 0 && !Number.isNaN(line[i - 1]) ? "lineTo" : "moveTo"](x, y - 2);
    });
    context.stroke();
  });
}

function box(context, color, alpha, x, y, width, height) {
  context.fillStyle = color;
  context.globalAlpha = alpha;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
}

function frame(context, color, dashes, x, y, width, height) {
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.setLineDash(dashes);
  context.strokeRect(x, y, width, height);
  context.setLineDash([]);
}

function write(context, color, text, x, y, room) {
  context.fillStyle = color;
  context.fillText(text, x, y, room);
}

/** A canvas with a row per channel over samples: the overview, or the detail, which has an axis. */
class Plot {
  constructor(canvas, { axis, gap, strip }) {
    Object.assign(this, { canvas, axis, gap, strip, answer: null, first: 0, last: 1, width: 1 });
  }

  x = (sample) => GUTTER + ((sample - this.first) * this.width) / (this.last - this.first);
  sample = (x) => this.first + ((x - GUTTER) * (this.last - this.first)) / this.width;

  /** Return the message that asks for what is in view, at most one column per sample. */
  message() {
    this.width = Math.max(this.canvas.clientWidth - GUTTER, 1);
    const columns = Math.round(this.width * (window.devicePixelRatio || 1)), { first, last } = this;
    if (last - first > columns) return { type: "view", first, last, columns };
    const range = { first: Math.floor(first), last: Math.ceil(last) };
    return { type: "view", ...range, columns: range.last - range.first };
  }

  take(answer, channels) {
    const low = floats(answer.low), high = floats(answer.high), columns = low.length / channels;
    const [lows, highs] = [0, 1].map((side) => answer.ranges.map((pair) => pair[side] ?? NaN)); // of all that was read
    const ranges = { low: lows, high: highs }, density = answer.density && floats(answer.density);
    const marks = answer.marks?.map(([start, end, number, said]) =>
      ({ id: `${start}-${end}`, start, end, answer: [false, true][said], class: said ? number : null }));
    this.answer = { ...answer, low, high, columns, ranges, density, marks };
  }

  draw(page) {
    const { context, width, height } = prepare(this.canvas), { answer, axis, strip, gap } = this;
    if (!answer) return;
    const { channels } = page.info, bottom = height - (axis ? AXIS : 0), top = axis ? strip + 2 : 0;
    const rowHeight = (bottom - top - (axis ? 0 : strip + 2)) / channels.length;
    this.width = Math.max(width - GUTTER, 1);
    this.ranges = page.fit && axis ? this.rangesInView() : answer.ranges;
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, this.width, height);
    context.clip();
    if (axis) this.drawAxis(context, bottom, width);
    this.drawMarks(context, page, bottom);
    channels.forEach((_, row) => {
      if (row && axis) box(context, GRID, 1, GUTTER, Math.round(top + row * rowHeight), this.width, 1);
      this.drawChannel(context, row, top + row * rowHeight + gap, rowHeight - 2 * gap);
    });
    this.drawRanges(context, page, bottom);
    context.restore();
    if (axis) write(context, FAINT, page.info.times, 2, bottom + AXIS / 2 + 1, GUTTER - 8);
    channels.forEach(({ name, unit }, row) => {
      const from = top + row * rowHeight, middle = from + rowHeight / 2, room = GUTTER - 8;
      const below = unit && axis && rowHeight > 40 ? 7 : 0;
      if (rowHeight > 11) write(context, INK, name, 2, middle - below, room);
      if (below) write(context, FAINT, unit, 2, middle + below, room);
      if (!axis || rowHeight < (below ? 60 : 46)) return;
      write(context, FAINT, short(this.ranges.high[row]), 2, from + gap + 5, room);
      write(context, FAINT, short(this.ranges.low[row]), 2, from + rowHeight - gap - 5, room);
    });
  }

  rangesInView() {
    const { low, high, columns } = this.answer, rows = Array.from({ length: low.length / columns }, (_, row) => row);
    const of = (values, pick) => rows.map((row) => pick(values.subarray(row * columns, (row + 1) * columns)));
    return { low: of(low, least), high: of(high, most) };
  }

  drawChannel(context, row, top, height) {
    const { first, last, columns } = this.answer, lowest = this.ranges.low[row], range = this.ranges.high[row] - lowest;
    const part = (values) => values.subarray(row * columns, (row + 1) * columns);
    const low = part(this.answer.low), high = part(this.answer.high), left = this.x(first);
    const pixels = (this.x(last) - left) / columns, apart = last - first < 1.5 * columns, size = pixels > 6 ? 3 : 1.2;
    const y = (value) => top + height * (range > 0 ? 1 - (value - lowest) / range : 0.5);
    context.fillStyle = context.strokeStyle = INK;
    context.beginPath();
    for (let i = 0; i < columns; i++) {
      if (Number.isNaN(low[i])) continue;
      const x = left + (i + 0.5) * pixels, follows = i > 0 && !Number.isNaN(low[i - 1]);
      if (apart) {
        context.fillRect(x - size / 2, y(low[i]) - size / 2, size, size);
        context[follows ? "lineTo" : "moveTo"](x, y(low[i]));
      } else {
        // A bar from the lowest to the highest value of the column, drawn out to where the column before ended.
        const upper = y(follows ? Math.max(high[i], low[i - 1]) : high[i]);
        const lower = y(follows ? Math.min(low[i], high[i - 1]) : low[i]);
        context.fillRect(x - pixels / 2, upper, pixels, Math.max(lower - upper, 1));
      }
    }
    context.lineWidth = 1.2;
    context.stroke();
  }

  drawMarks(context, page, bottom) {
    const { marks, density, first, last, columns } = this.answer, { axis, strip } = this;
    const pixels = Math.max((this.x(last) - this.x(first)) / columns, 1), top = axis ? 0 : bottom - strip;
    const color = (number) => page.classes[number]?.color || NO_CLASS;
    density?.forEach((share, i) => {
      if (!share) return;
      const x = this.x(first + ((i % columns) * (last - first)) / columns), own = color(Math.floor(i / columns));
      box(context, own, 0.2 * share, x, 0, pixels, bottom);
      box(context, own, 0.3 + 0.7 * share, x, top, pixels, strip);
    });
    for (const { start, end, class: number, answer } of marks || []) {
      const x = this.x(start), width = Math.max(this.x(end) - x, 2), no = answer === false;
      box(context, color(number), no ? 0.05 : 0.16, x, 0, width, bottom);
      box(context, color(number), no ? 0.2 : answer ? 1 : 0.6, x, top, Math.max(width - 1, 2), strip);
      const told = axis && answer != null && width > 14;
      if (told) write(context, no ? INK : "#fff", no ? "no" : "yes", x + 3, 7.5, width - 6);
    }
  }

  /** Draw the current match, the query, what is being selected, and in the overview what the detail shows. */
  drawRanges(context, page, bottom) {
    if (page.current) { // which is no mark if it is beyond the threshold, or marks are a density
      const { start, end } = page.current, x = this.x(start), width = Math.max(this.x(end) - x, 3);
      if (this.axis) frame(context, INK, [], x, 1, width, bottom - 2);
      else box(context, INK, 1, x, bottom - this.strip - 6, width, this.strip + 6);
    }
    for (const range of [page.query, page.selection].filter(Boolean)) {
      const x = this.x(range.start), width = this.x(range.end) - x, isQuery = range === page.query;
      box(context, QUERY, isQuery ? 0.06 : 0.18, x, 0, width, bottom);
      if (!this.axis) box(context, QUERY, 1, x, 0, Math.max(width, 2), 4);
      else frame(context, QUERY, isQuery ? [4, 3] : [], x, this.strip + 1, width, bottom - this.strip - 2);
      if (this.axis && isQuery && width > 34) write(context, QUERY, "query", x + 4, bottom - 8, width);
    }
    if (this.axis) return;
    const left = this.x(page.detail.first), right = Math.max(this.x(page.detail.last), left + 4);
    box(context, "#54687e", 0.16, GUTTER, 0, left - GUTTER, bottom);
    box(context, "#54687e", 0.16, right, 0, this.x(this.last) - right, bottom);
    frame(context, QUERY, [], left, 0.75, right - left, bottom - 1.5);
  }

  drawAxis(context, bottom, width) {
    let free = GUTTER;
    for (const [sample, label] of this.answer.ticks) {
      const room = context.measureText(label).width, x = this.x(sample);
      const left = clamp(x - room / 2, GUTTER + 1, width - room - 2);
      box(context, GRID, 1, Math.round(x), 0, 1, bottom);
      if (x < GUTTER || x > width || left < free) continue;
      write(context, INK, label, left, bottom + AXIS / 2 + 1);
      free = left + room + 10;
    }
    for (const sample of this.answer.gaps || []) frame(context, "#b3541e", [5, 4], this.x(sample), 0, 0, bottom);
  }
}

const LAYOUT = `
<header><h1 data-is="title"></h1><div class="notice" data-is="notice" hidden></div></header>
<div class="errors" role="alert" data-is="errors"></div>
<div class="main-part">
  <canvas class="overview" data-is="overview" role="img" aria-label="The recording; drag the box to move"></canvas>
  <div class="tools">
    <button data-do="select" aria-pressed="false" title="Drag selects, as shift + drag does (s)">Select query</button>
    <button data-do="zoomIn" aria-label="Zoom in" title="Zoom in (+)">+</button>
    <button data-do="zoomOut" aria-label="Zoom out" title="Zoom out (-)">−</button>
    <button data-do="all" title="Show the whole recording">All</button>
    <button data-do="fit" aria-pressed="false" title="Scale each channel to what is in view (f)">Fit height</button>
    <span class="status" role="status" data-is="status"></span></div>
  <canvas class="detail" data-is="detail" role="img"
    aria-label="The part in view; drag to move, wheel to zoom, shift and drag to select the query"></canvas>
  <div class="pager"><b>Matches</b><select data-is="order" aria-label="Order of the matches">
      <option value="distance">by distance</option><option value="time">by time</option></select>
    <button data-do="pageBefore" aria-label="Page before">‹</button><span data-is="place">none</span>
    <button data-do="pageAfter" aria-label="Next page">›</button>
    <button data-do="ask" title="Go to the match whose answer teaches most">Next to ask (a)</button>
    <button data-do="yes" class="yes">Yes (y)</button><button data-do="no" class="no">No (n)</button>
    <button data-do="undo" title="Take the last answer back">Undo (u)</button></div>
  <div class="film" data-is="film" role="list" aria-label="Matches" data-hint="1. Hold shift and drag over a pattern.
    2. Press Search, and move the threshold between near and far.
    3. Press a, and answer y or n, some ten times.
    4. Relearn.
    5. Take away labels, model and script."></div></div>
<aside>
  <section><h2>Query</h2>
    <canvas class="picture" data-is="picture" role="img" aria-label="Picture of the query"></canvas>
    <div class="note" data-is="queryLabel"></div>
    <div class="pair"><label>from sample<input type="number" min="0" data-is="from"></label>
      <label>to sample<input type="number" min="0" data-is="to"></label>
      <label>metric<select data-is="metric"></select></label>
      <label>normalize<select data-is="normalize"></select></label></div>
    <div class="boxes" data-is="channels" role="group" aria-label="Channels to compare"></div>
    <div class="row"><button class="main" data-do="search">Search</button></div>
    <div class="row" data-is="working" hidden>
      <progress max="1" data-is="bar" aria-label="Progress"></progress><span data-is="share"></span>
      <button data-do="cancel" title="Cancel (Escape)">Cancel</button></div></section>
  <section><h2>Threshold</h2>
    <canvas class="histogram" data-is="histogram" role="img" aria-label="Histogram of the distances"></canvas>
    <input type="range" max="1000" value="1000" data-is="slider" aria-label="Threshold of the distance" disabled>
    <div class="row"><label>distance at most <input type="number" step="any" data-is="exact" disabled></label></div>
    <div class="note" data-is="counts">No search yet.</div></section>
  <section><h2>Answers</h2>
    <div class="classes" data-is="classes" role="radiogroup" aria-label="Class of the next answer"></div>
    <div class="note" data-is="precision"></div>
    <div class="row"><button data-do="addClass" title="Add a class">+ class</button>
      <button data-do="relearn" title="Learn from the answers and search again">Relearn</button>
      <button data-do="segment" title="Cut the recording at each repetition">Segment</button>
      <button data-do="count" title="Count the repetitions">Count</button></div></section>
  <section><h2>Take away</h2>
    <div class="row"><button data-do="labels" title="Write the labels">Labels</button>
      <select data-is="format" aria-label="Format of the labels"></select>
      <button data-do="model" title="Write the fitted model">Model</button>
      <button data-do="script" title="Write a Python script that finds the same matches">Script</button></div>
    <textarea data-is="written" rows="6" readonly hidden aria-label="What was exported"></textarea></section>
</aside>
<footer>Drag or ← → moves, wheel or + − zooms, shift + drag selects the query. Keys: j k next and previous match,
  a next to ask, y n answer, u undo, 1–9 class, s select, f fit height, Esc cancel.</footer>`;

/** Build the page in an element; `send` takes a message and promises its answer. Return what takes it away again. */
function mount(root, send) {
  const page = {
    info: null, classes: [], class: 0, query: null, selection: null, selecting: false, fit: false, job: null,
    rows: [], total: 0, place: { offset: 0 }, current: null, asking: false, pick: null, limit: undefined, edges: [],
  };
  root.classList.add("sktslib-view");
  root.tabIndex = -1;
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own keys, such as j and k
  root.innerHTML = LAYOUT;
  const parts = Object.fromEntries([...root.querySelectorAll("[data-is]")].map((part) => [part.dataset.is, part]));
  const say = (text) => (parts.status.textContent = text), focus = () => root.focus({ preventScroll: true });
  /** Replace what an element holds; the keys still work if the focus was in it. */
  function replace(part, children) {
    const focused = part.contains(document.activeElement);
    part.replaceChildren(...children);
    if (focused) focus();
  }

  /** Show an error until it is closed. */
  function complain(text) {
    if (parts.errors.lastElementChild?.firstChild.textContent === text) return; // it comes again with each frame
    const close = el("button", { "aria-label": "Close this message", click: () => close.parentNode.remove() }, "×");
    parts.errors.append(el("div", {}, el("span", {}, text), close));
  }

  /** Send a message; return its answer, or null after an error, which is shown. */
  async function call(message) {
    try {
      const answer = await send(message);
      if (!answer.error) Object.assign(parts.notice, { textContent: answer.notice ?? "", hidden: !answer.notice });
      if (!answer.error || message.type === "progress") return answer;
      complain(answer.error);
    } catch (error) {
      complain(error.message);
    }
    return null;
  }
  // ---- what is drawn
  const overview = new Plot(parts.overview, { axis: false, gap: 1, strip: 6 });
  const detail = (page.detail = new Plot(parts.detail, { axis: true, gap: 6, strip: 14 }));
  let scheduled = false;
  function redraw() {
    if (scheduled || !page.info) return;
    scheduled = true;
    root.dataset.painted = false; // for tests, as below
    requestAnimationFrame(() => {
      scheduled = false;
      overview.draw(page);
      detail.draw(page);
      const { first, last } = detail, painted = detail.answer?.first <= first && detail.answer.last >= last;
      Object.assign(root.dataset, { first, last, painted });
    });
  }
  const [askOverview, askDetail] = [overview, detail].map((plot) => newest(call, () => plot.message(), (answer) => {
    plot.take(answer, page.info.channels.length);
    redraw();
    if (answer.ready < 1) setTimeout(plot === detail ? askDetail : askOverview, 150);
  }));
  const askViews = () => Promise.all([askOverview(), askDetail()]);
  function show(first, last) {
    const n = page.info.n, width = clamp(last - first, Math.min(FEWEST, n), n);
    detail.first = clamp((first + last - width) / 2, 0, n - width);
    detail.last = Math.min(detail.first + width, n); // which rounding may pass
    redraw();
    askDetail();
  }
  const inView = () => detail.last - detail.first;
  const pan = (samples) => show(detail.first + samples, detail.last + samples);
  function zoom(factor, about = (detail.first + detail.last) / 2) {
    const width = clamp(inView() * factor, Math.min(FEWEST, page.info.n), page.info.n);
    const first = about - ((about - detail.first) * width) / inView();
    show(first, first + width);
  }
  /** Bring a stretch to the middle; zoom only where it would be a speck, or not fit. */
  function center({ start, end }) {
    const size = end - start, width = inView() >= 2 * size && inView() <= 40 * size ? inView() : 8 * size;
    show((start + end - width) / 2, (start + end + width) / 2);
    parts.overview.scrollIntoView({ block: "nearest" }); // on small screens
  }
  // ---- pointer
  const at = (plot, event) => plot.sample(event.clientX - plot.canvas.getBoundingClientRect().left);
  function onDrag({ canvas }, start) {
    canvas.onpointerdown = (event) => {
      if (!page.info || event.button !== 0) return;
      event.preventDefault();
      focus();
      canvas.setPointerCapture(event.pointerId);
      const { move, end } = start(event);
      canvas.onpointermove = move;
      canvas.onpointerup = canvas.onpointercancel = (last) => {
        canvas.onpointermove = canvas.onpointerup = canvas.onpointercancel = null;
        end?.(last);
      };
    };
  }
  onDrag(overview, (event) => {
    const sample = at(overview, event), inside = sample >= detail.first && sample <= detail.last;
    const grip = inside ? sample - detail.first : inView() / 2;
    const move = (moved) => show(at(overview, moved) - grip, at(overview, moved) - grip + inView());
    if (!inside) move(event);
    return { move };
  });
  onDrag(detail, (event) => {
    const from = at(detail, event), first = detail.first, x = event.clientX;
    const selects = event.shiftKey || page.selecting, far = (moved) => Math.abs(moved.clientX - x) > 3;
    function select(moved) {
      const [start, end] = [from, at(detail, moved)].sort((a, b) => a - b).map((end) => clamp(end, 0, page.info.n));
      page.selection = { start: Math.floor(start), end: Math.ceil(end) };
      say(`${whole(page.selection.end - page.selection.start)} samples`);
      redraw();
    }
    function end(moved) {
      const range = page.selection;
      page.selection = null;
      if (selects && far(moved) && moved.type === "pointerup") return setQuery(range);
      const found = !far(moved) && detail.answer?.marks?.find((mark) => mark.start <= from && from < mark.end);
      if (found) choose(found, false);
      redraw();
    }
    const slide = (moved) => pan(first - detail.first - ((moved.clientX - x) * inView()) / detail.width);
    return { move: selects ? select : slide, end };
  });
  for (const plot of [overview, detail]) {
    plot.canvas.addEventListener("wheel", (event) => {
      if (!page.info) return;
      event.preventDefault();
      const pixels = event.deltaMode === 1 ? 16 : 1; // per line
      const [dx, dy] = event.shiftKey ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
      if (Math.abs(dx) > Math.abs(dy)) pan((dx * pixels * inView()) / detail.width);
      else zoom(Math.exp(clamp(dy * pixels, -250, 250) * 0.002), plot === detail ? at(plot, event) : undefined);
    }, { passive: false });
  }
  // ---- query and search
  const checked = () => [...parts.channels.querySelectorAll("input")].flatMap((box, i) => (box.checked ? [i] : []));
  const draw = (canvas, shown, below) => drawPicture(canvas, checked(), shown, below);
  /** Set the query of the class that is chosen; without a range show the one that it has. */
  async function setQuery(range) {
    const number = page.class, answer = await call({ type: "query", class: number, ...range });
    redraw();
    if (!answer || number !== page.class) return; // another one was chosen meanwhile
    const { start = "", end = "", label, picture } = answer;
    page.query = picture ? { ...answer, picture: floats(picture) } : null;
    [parts.from.value, parts.to.value] = [start, end];
    parts.queryLabel.textContent = picture ? `${label} (${whole(end - start)} samples)` : FIRST_STEP;
    draw(parts.picture, page.query);
    drawFilm();
    if (range && page.selecting) ACTIONS.select();
    if (range) say("Press Search to find what is like it.");
  }
  function search() {
    const channels = checked(), [metric, normalize] = [parts.metric.value, parts.normalize.value || null];
    if (!page.query) say(`A search needs a query. ${FIRST_STEP}`);
    else if (channels.length) run("search", { metric, normalize, channels, class: page.class });
    else complain("A search needs a channel: check at least one.");
  }
  async function run(type, more = {}) {
    if (page.job != null) return say("Wait until this is done, or cancel it.");
    parts.errors.replaceChildren(); // of what was tried before
    say("");
    const started = performance.now(), answer = await call({ type, ...more });
    if (answer) await follow(answer.job, type, started);
  }
  async function follow(job, type, started) {
    page.job = job;
    let state, found = 0;
    do {
      await pause(performance.now() - started < 400 ? 30 : 100);
      state = await call({ type: "progress", job });
      parts.working.hidden = performance.now() - started < 300;
      parts.bar.value = state?.share ?? 0;
      parts.share.textContent = `${type}: ${Math.round(100 * parts.bar.value)} %`;
      page.found ||= state?.n_matches > 0 || state?.state === "done";
      if (state?.n_matches && state.n_matches !== found) refresh();
      found = state?.n_matches;
    } while (state?.state === "running");
    Object.assign(page, { job: null, place: { offset: 0 } });
    parts.working.hidden = true;
    if (state?.error) complain(state.error);
    else if (state) say(`${type} ${state.state}`);
    page.told = state?.state === "done" ? type : null;
    for (const note of state?.notes ?? []) complain(note);
    refresh();
  }
  // ---- threshold
  const askThreshold = newest(call, () => ({ type: "threshold", value: page.limit }), (answer, asked) => {
    const { value, n, expected_false: wrong, histogram } = answer, { slider, exact } = parts;
    const { edges, counts, beyond, largest } = histogram;
    Object.assign(page, { edges, largest });
    slider.disabled = exact.disabled = !counts.length;
    if (!counts.length) return (parts.counts.textContent = "Nothing was found.");
    const share = value == null ? 1 : value / edges.at(-1);
    if (document.activeElement !== slider) slider.value = 1000 * share;
    if (document.activeElement !== exact) exact.value = value == null ? "" : Number(value.toPrecision(5));
    const chance = wrong == null ? "expected false ones unknown" : `about ${short(wrong, 2)} of them false by chance`;
    const found = `${whole(n)} match${n === 1 ? "" : "es"}`;
    parts.counts.textContent = `${found}, ${chance}${beyond ? `; beyond the histogram: ${whole(beyond)}` : ""}`;
    if (page.told) say(`${page.told} done: ${found}`);
    page.told = null;
    const { context, width, height } = prepare(parts.histogram), most = Math.log1p(Math.max(...counts));
    counts.forEach((count, i) => {
      const size = count && Math.max((height * Math.log1p(count)) / most, 2), pixels = width / counts.length;
      const color = value == null || edges[i + 1] <= value ? QUERY : edges[i] >= value ? "#c3ccd6" : "#6f9fd6";
      box(context, color, 1, i * pixels, height - size, Math.max(pixels - 1, 1), size);
    });
    if (asked.value === undefined) return;
    if (page.limit === asked.value) page.limit = undefined; // it is set
    refresh(false);
  });
  const setLimit = (value) => askThreshold((page.limit = value));
  // ---- matches
  const perPage = () => Math.max(Math.floor((parts.film.clientWidth + 8) / 138), 1);
  const matches = () => ({ type: "matches", order: parts.order.value, limit: perPage(), ...page.place });
  const askMatches = newest(call, matches, (answer, asked) => {
    if (asked.offset !== page.place.offset || asked.around !== page.place.around) return; // another page is to come
    const rows = answer.rows.map((row) => ({ ...row, picture: floats(row.picture) }));
    Object.assign(page, { rows, total: answer.total, place: { offset: answer.offset } });
    const first = page.place.offset, last = first + page.rows.length;
    const all = whole(page.total) + (asked.order === "time" ? "" : " candidates"); // of which the threshold takes some
    parts.place.textContent = page.total ? `${whole(first + 1)}–${whole(last)} of ${all}` : "none";
    page.current = page.rows.find(({ id }) => id === page.current?.id) || page.current;
    const row = page.rows.at(page.pick ?? page.rows.length);
    page.pick = null;
    if (row) go(row);
    else drawFilm();
  });
  function turnTo(offset, pick = null) {
    Object.assign(page, { pick, place: { offset: clamp(offset, 0, Math.max(page.total - 1, 0)) } });
    askMatches();
  }
  function card(row) {
    const picture = el("canvas", { class: "picture" }), state = { true: " ✓", false: " ✗" }[row.answer] ?? "";
    const place = row.label.replace(/^\d{4}-|\.0+$/g, ""); // without the year, for there is little room
    const scale = row.scale?.[0], offset = row.offset?.[0]; // of the first channel that is compared
    const sum = `${offset < 0 ? "−" : "+"} ${short(Math.abs(offset), 3)}`;
    const moved = scale == null ? "" : `× ${short(scale, 3)} ${sum}`;
    const main = el("button", { title: `Go to ${row.label}`, click: () => go(row, (page.asking = false)) }, picture,
      el("span", {}, el("b", {}, place), state), el("span", {}, moved),
      el("span", {}, `d ${short(row.distance, 3)}${row.q == null ? "" : `, q ${short(row.q, 2)}`}`));
    const made = el("div", { class: "card", role: "listitem", "data-id": row.id }, main);
    made.classList.toggle("faint", row.answer === false || row.within === false);
    made.classList.toggle("current", row.id === page.current?.id);
    made.style.borderTopColor = page.classes[row.class]?.color || NO_CLASS;
    return made;
  }
  function drawFilm() {
    replace(parts.film, page.rows.map(card));
    const query = (row) => row.class === page.class && page.query;
    page.rows.forEach((row, i) => draw(parts.film.children[i].querySelector("canvas"), row, query(row)));
  }
  function go(row) {
    page.current = row;
    drawFilm();
    center(row);
  }
  /** Make a match the current one, and show the page of the strip that holds it. */
  function choose(match, centered) {
    Object.assign(page, { current: match, place: { around: match.id } });
    askMatches();
    if (centered) center(match);
    redraw();
  }
  function step(by) {
    page.asking = false;
    if (!page.total) return say(FIRST);
    const { rows, total, place } = page, i = rows.findIndex((row) => row.id === page.current?.id);
    const next = i < 0 && by < 0 ? rows.length - 1 : i + by, index = place.offset + next;
    if (rows[next]) go(rows[next]);
    else if (!(index >= 0 && index < total)) say(by > 0 ? "That was the last match." : "That was the first match.");
    else turnTo(by > 0 ? index : index + 1 - perPage(), by > 0 ? 0 : -1);
  }
  // ---- answers
  function tellPrecision({ n_answers: answers, precision }) {
    const { value, low, high } = precision || {}, percent = (share) => `${Math.round(100 * share)} %`;
    parts.precision.textContent = `${whole(answers)} answer${answers === 1 ? "" : "s"}. Precision ` + (!precision
      ? "unknown until some were asked at random."
      : `${percent(value)} (95 % interval ${percent(low)} to ${percent(high)}; ${precision.n} asked at random).`);
  }
  async function answer(yes) {
    const { current, class: number } = page;
    if (!current) return say("Choose a match first: j, or a for the one to ask next.");
    page.current = null; // of the next one nobody has seen anything yet
    const got = await call({ type: "answer", id: current.id, yes, class: number });
    page.current ??= current;
    if (!got) return;
    tellPrecision(got);
    const row = page.rows.find(({ id }) => id === current.id);
    if (row) Object.assign(row, { answer: yes, class: number });
    await (page.asking ? ask() : step(1));
    drawFilm();
    askViews();
  }
  async function undo() {
    const got = await call({ type: "undo" });
    if (!got) return;
    say("The last answer is taken back.");
    tellPrecision(got);
    choose(got, true);
    askViews();
  }
  async function ask() {
    if (!page.total) return say(FIRST);
    page.current = null;
    parts.film.querySelector(".current")?.classList.remove("current"); // no key answers what is not framed
    const turn = (page.turn = {}), next = await call({ type: "next" });
    if (page.turn !== turn) return; // the reply to a newer request decides
    page.asking = next?.id != null;
    if (!page.asking) return next && say("There is nothing to ask.");
    choose(next.row, true);
    say(`Is this one? (${next.why === "random" ? "drawn at random, for the precision" : "among the most uncertain"})`);
  }
  // ---- classes
  function setClass(number) {
    page.class = clamp(number, 0, page.classes.length - 1);
    parts.classes.children[page.class].querySelector("[type=radio]").checked = true;
    setQuery();
  }
  const changeClass = (message) => call({ type: "class", ...message }).then((got) => got && showClasses(got.classes));
  const group = `class${Math.random()}`;
  function showClasses(classes) {
    page.classes = classes;
    replace(parts.classes, classes.map(({ name, color }, number) => {
      const change = () => changeClass({ name: text.value, color: paint.value, number });
      const input = (type, label, more) => el("input", { type, title: label, "aria-label": label, ...more });
      const paint = input("color", `Color of ${name}`, { value: color, change });
      const text = input("text", `Name of class ${number + 1}`, { value: name, change });
      const chosen = { name: group, change: () => setClass(number) };
      return el("div", {}, input("radio", `Answer as ${name} (${number + 1})`, chosen), paint, text);
    }));
    setClass(page.class);
  }
  // ---- what one takes away
  async function take(what) {
    say("Writing…");
    const got = await call({ type: "export", what, format: what === "labels" ? parts.format.value : null });
    say(got ? `Written: ${got.path}` : "");
    Object.assign(parts.written, { hidden: !got?.text, value: got?.text ?? "" });
    parts.written.scrollIntoView({ block: "nearest" });
  }
  // ---- buttons and keys
  function toggle(name, state) {
    page[state] = !page[state];
    root.querySelector(`[data-do=${name}]`).setAttribute("aria-pressed", page[state]);
    parts.detail.classList.toggle("selecting", page.selecting);
    redraw();
  }
  const ACTIONS = {
    select: () => toggle("select", "selecting"), fit: () => toggle("fit", "fit"), zoomIn: () => zoom(0.5),
    zoomOut: () => zoom(2), left: () => pan(-inView() / 4), right: () => pan(inView() / 4),
    all: () => show(0, page.info.n), home: () => show(0, inView()),
    end: () => show(page.info.n - inView(), page.info.n), next: () => step(1), before: () => step(-1),
    pageBefore: () => turnTo(page.place.offset - perPage()), search,
    addClass: () => changeClass({}).then(() => setClass(page.classes.length - 1)),
    pageAfter: () => page.place.offset + perPage() < page.total && turnTo(page.place.offset + perPage()),
    yes: () => answer(true), no: () => answer(false), undo, ask, relearn: () => run("relearn"),
    segment: () => run("segment"), count: () => run("count"),
    cancel: () => page.job != null && call({ type: "cancel", job: page.job }),
    labels: () => take("labels"), model: () => take("model"), script: () => take("script"),
  };
  const KEYS = {
    ArrowLeft: "left", ArrowRight: "right", ArrowUp: "zoomIn", ArrowDown: "zoomOut", "+": "zoomIn", "=": "zoomIn",
    "-": "zoomOut", Home: "home", End: "end", j: "next", k: "before", y: "yes", n: "no", u: "undo", a: "ask", f: "fit",
    s: "select", Escape: "cancel",
  };
  root.addEventListener("click", (event) => {
    const action = event.target.closest("[data-do]")?.dataset.do;
    if (action && event.detail) focus(); // of the mouse: the keys are for the page again
    if (action && page.info) ACTIONS[action]();
  });
  root.addEventListener("keydown", (event) => {
    const { target, key } = event, typing = target.matches("[type=text], [type=number], select, textarea");
    const moves = target.matches("[type=range], [type=radio]") && /^(Arrow|Home|End)/.test(key);
    if (typing || moves || event.ctrlKey || event.metaKey || event.altKey || !page.info) return;
    const act = ACTIONS[KEYS[key]] || (/^[1-9]$/.test(key) && (() => setClass(key - 1)));
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  const { slider, exact, from, to } = parts;
  const chosen = () => from.value && to.value && setQuery({ start: Number(from.value), end: Number(to.value) });
  // At its right end are all, also those beyond the histogram.
  slider.oninput = () =>
    setLimit(slider.value === slider.max ? page.largest : (slider.value / 1000) * page.edges.at(-1));
  exact.onchange = () => setLimit(exact.value === "" ? null : Number(exact.value));
  from.onchange = to.onchange = chosen;
  parts.order.onchange = () => turnTo(0);
  parts.channels.onchange = () => setQuery(); // pictures have a row for each channel
  // ---- all of it
  function refresh(threshold = true) {
    redraw();
    askViews();
    if (page.found) askMatches();
    if (page.found && threshold) askThreshold();
  }
  function fill(select, values, value) {
    select.replaceChildren(...values.map((each) => el("option", { value: each ?? "" }, each ?? "none")));
    select.value = value ?? "";
  }
  /** Show what the session holds, at first and again when another window may have changed it. */
  async function open() {
    const info = await call({ type: "open" }), isFirst = !page.info;
    if (!info) return;
    Object.assign(page, { info, found: info.has_results });
    if (isFirst) page.class = info.class ?? 0;
    showClasses(info.classes);
    tellPrecision(info);
    if (isFirst) setUp(info);
    refresh();
    if (isFirst && info.job != null) follow(info.job, info.last, performance.now());
    else if (isFirst && info.last && !info.has_results) run(info.last); // of a session that goes on
  }
  function setUp({ n, channels, settings, ...info }) {
    parts.title.textContent = info.name;
    if (root.id) document.title = `${info.name} – sktslib`;
    fill(parts.metric, info.metrics, settings.metric);
    fill(parts.normalize, info.normalizations, settings.normalize);
    fill(parts.format, info.formats, info.formats[0]);
    parts.channels.replaceChildren(...channels.map(({ name }, i) =>
      el("label", {}, el("input", { type: "checkbox", checked: settings.channels.includes(i) }), name)));
    parts.overview.style.height = `${clamp(22 + 16 * channels.length, 56, 112)}px`;
    [overview.first, overview.last] = [0, n];
    show(0, n);
  }
  const look = () => page.info && open(); // windows side by side are both visible: the focus tells which is used
  const resized = new ResizeObserver(() => page.info && refresh());
  for (const each of [parts.overview, parts.detail, parts.film]) resized.observe(each);
  window.addEventListener("focus", look);
  open().then(focus);
  return () => {
    resized.disconnect();
    window.removeEventListener("focus", look);
  };
}

// ---- in a browser: by HTTP
const own = document.getElementById("sktslib-view");
if (own) {
  const token = new URLSearchParams(location.search).get("token");
  mount(own, async (message) => {
    const body = JSON.stringify(message);
    const response = await fetch("message", { method: "POST", headers: { "X-Token": token }, body }).catch(() => {
      throw new Error("The server does not answer. Is it still running?");
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  });
}

// ---- in a notebook: through the kernel, as anywidget has it
function render({ model, el: root }) {
  const waiting = new Map(), mine = Math.random(); // two views of one widget hear each other's answers
  let last = 0;
  const hear = ({ id, answer }) => {
    waiting.get(id)?.(JSON.parse(answer));
    waiting.delete(id);
  };
  model.on("msg:custom", hear);
  const unmount = mount(root.appendChild(el("div")), (message) => new Promise((resolve) => {
    const id = `${mine} ${++last}`;
    waiting.set(id, resolve);
    model.send({ id, message: JSON.stringify(message) });
  }));
  return () => {
    model.off("msg:custom", hear);
    unmount();
  };
}
export default { render };
