// Undo, redo, and the link: what was changed as a text, which the fragment of the URL holds.
// x=X.5:1/3,mask.2:-inf;t=0.7;d=6;at=weights.3;follow=2.0.all;stage=scores;frame=3;id: entries by name and place,
// temperature, decimals, the chosen entry, the row and head that are followed and whether all rows are filled, the step on
// the stage and its frame, and last what an ordinary fragment is, the id of an element.

const LONGEST_LINK = 30000;
const [past, future] = [[], []]; // what was changed, before and after
let last = ""; // what is changed now
let [anchor, linked] = ["", location.hash]; // the fragment as it was read or written last

const encoded = (text) => encodeURIComponent(text).replaceAll("%2F", "/");

function written() {
  const entries = everyEdited().map(({ item, place, typed }) => `${encoded(item.name)}.${place}:${encoded(typed)}`);
  return [entries.length && `x=${entries.join(",")}`, temperature !== "1" && `t=${encoded(temperature)}`, digits !== data.digits && `d=${digits}`].filter(Boolean).join(";");
}

// Called after a change: it can be undone, and stands in the link.
function commit() {
  const now = written();
  if (now !== last) { past.push(last); future.length = 0; }
  last = now;
  told = "";
  tellState();
  remember();
}

function travel(from, to) {
  if (!from.length) return;
  to.push(last);
  last = from.pop();
  startAnew();
  restore(last);
  recompute();
  for (const input of $$("td input")) fill(input);
  told = $("#said").textContent = "";
  tellState();
  remember();
}
const undo = () => travel(past, future);
const redo = () => travel(future, past);

const entryNamed = (text, known) => {
  const match = /^(.+)\.(\d{1,7})$/.exec(text);
  const item = match && data.items.find((one) => one.name === decodeURIComponent(match[1]) && (!known || given.has(one.letter)));
  return item && Number(match[2]) < item.texts.length ? entryIn(item, Number(match[2])) : null;
};

// What each part of a link does; false or a complaint where it cannot.
const TAKES = {
  x: (text) => {
    const [where, number = ""] = text.split(":");
    const found = entryNamed(where, true);
    return found && assign(found, decodeURIComponent(number)) === "";
  },
  t: (text) => data.tempered && !heat(decodeURIComponent(text)),
  d: (text) => !round(text),
  chunk: () => data.chunk,
  at: (text) => { const found = entryNamed(text); if (found) goTo(found.key); return found; },
  follow: (text) => {
    const [, row, head = 0, all] = /^(\d{1,5})(?:\.(\d{1,3}))?(\.all)?$/.exec(text) ?? [];
    if (!(row < queriesOf(central) && head < (central.heads || 1))) return false;
    allRows = Boolean(all);
    followRow(Number(row), Number(head));
    return true;
  },
  stage: (text) => { openStage(decodeURIComponent(text)); return true; },
  frame: (text) => { const is = staged() && Object.hasOwn(scene.frames, text); if (is) paintFrame(Number(text)); return is; },
};

// Takes what was changed from a text; returns the parts that cannot be used.
function restore(text) {
  const takes = (name, value) => {
    try { return Object.hasOwn(TAKES, name) && TAKES[name](value); } catch (error) { if (!(error instanceof URIError)) throw error; }
    return false;
  };
  return text.split(";").flatMap((part) => {
    const [, name, value] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    if (name === "x") return value.split(",").filter((entry) => !takes(name, entry));
    return name === undefined || takes(name, value) ? [] : [part];
  });
}

// Writes into the fragment what is changed and chosen.
function remember() {
  if ((typeof leaving !== "undefined" && leaving) || location.hash !== linked) return true; // where a link leads is read next
  for (const [id, list] of [["#undo", past], ["#redo", future]]) $(id).ariaDisabled = !list.length;
  $("#undo").parentElement.hidden = !past.length && !future.length && !last;
  const at = pinned && parsed(pinned);
  const isFollowed = allRows || followed.row !== USUALLY.row || followed.head !== USUALLY.head;
  const text = [data.chunk && `chunk=${data.chunk}`, last, at && `at=${encoded(at.item.name)}.${at.place}`, isFollowed && `follow=${followed.row}.${followed.head}${allRows ? ".all" : ""}`, scene && `stage=${encoded(scene.item.name)}`, scene?.at && `frame=${scene.at}`, anchor].filter(Boolean).join(";");
  if (text.length > LONGEST_LINK) return false;
  if (`#${text}` === (location.hash || "#")) return true;
  try { history.replaceState(null, "", text ? `#${text}` : location.href.split("#")[0]); linked = location.hash; } catch { return false; } // too often, or not here
  return true;
}

// Opens the page as its link says. Without "=" a fragment is the id of an element, and the browser goes there.
function followLink() {
  const text = (linked = location.hash).slice(1);
  const parts = text.split(";");
  anchor = parts.at(-1).includes("=") ? "" : parts.pop();
  if (!parts.length) { if (last || pinned || data.chunk) remember(); return; }
  if (text.length > LONGEST_LINK) { say("The link is too long to be read."); return; }
  startAnew();
  const [views, numbers] = [parts.filter((part) => /^(at|follow|stage|frame)=/.test(part)), parts.filter((part) => !/^(at|follow|stage|frame)=/.test(part))];
  const refused = restore(numbers.join(";"));
  const before = last;
  last = written();
  if (last || before) recompute();
  if (before && before !== last) past.push(before);
  refused.push(...restore(views.join(";")));
  if (anchor) requestAnimationFrame(() => document.getElementById(anchor)?.scrollIntoView());
  told = refused.length ? `The page cannot use ${refused.length === 1 ? "this part" : "these parts"} of the link: ${refused.slice(0, 3).map((part) => `“${short(part)}”`).join(", ")}${refused.length > 3 ? " …" : ""}.` : "";
  tellState();
  remember();
}

// ---- the clipboard ----

// Where the browser does not let the page copy, the text stands selected in a place.
async function copy(text, what, place = $("#controls")) {
  $(".byhand")?.remove();
  const focused = document.activeElement;
  let done = true;
  try { await navigator.clipboard.writeText(text); } catch {
    const area = make("textarea", text, { class: "byhand", readonly: "", rows: 6, "aria-label": what });
    place.append(area);
    area.select();
    done = document.execCommand("copy");
    if (done) { area.remove(); focused?.focus({ preventScroll: true }); }
  }
  if ($("#menu").contains(document.activeElement)) { openMenu(false); $("#more").focus(); } // what is said stands below it
  say(done ? `${what} copied.` : "The browser does not let the page copy; the text is selected, to be copied by hand.");
}

function copyLink() {
  if (remember()) copy(location.href, "Link"); else say("These changes are too many for a link; download the worksheet.");
}
$("#link").addEventListener("click", copyLink);
$("#undo").addEventListener("click", undo);
$("#redo").addEventListener("click", redo);

keysWhile(always, { "Ctrl+z": undo, "Ctrl+Shift+z": redo, "Ctrl+y": redo });

let soon = null;
for (const kind of ["focusin", "click", "keyup"]) document.addEventListener(kind, () => { clearTimeout(soon); soon = setTimeout(remember, 300); });
addEventListener("hashchange", followLink);
