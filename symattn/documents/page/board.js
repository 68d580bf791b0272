// Before an audience: the stage fills the screen, and what a frame works out is hidden until a key shows it.

const inBoard = () => document.body.classList.contains("board");
const veil = (on) => document.body.classList.toggle("veiled", on && inBoard());

function changeBoard() {
  const on = !inBoard();
  if (on && !staged()) changeMode();
  document.body.classList.toggle("board", on);
  veil(!scene.frames[scene.at].opens);
  if (on) document.documentElement.requestFullscreen?.().catch(() => {}); // where the browser lets a page
  else if (document.fullscreenElement) document.exitFullscreen();
  mountStep(scene.item, scene.at);
}

function showNext() {
  pauseStage();
  if (document.body.classList.contains("veiled")) { veil(false); return; }
  if (isLast()) return;
  goOn(1);
  veil(!scene.frames[scene.at].opens && !scene.frames[scene.at].closes);
}

const usualKeys = { ...KEYS };
const onBoard = (does, key) => (event) => { if (!inBoard()) { usualKeys[key]?.(event); return; } event.preventDefault(); does(); };
Object.assign(KEYS, {
  b: changeBoard,
  ArrowRight: onBoard(showNext, "ArrowRight"),
  " ": onBoard(showNext, " "),
  ArrowLeft: onBoard(() => { walkFrames(-1); veil(false); }, "ArrowLeft"),
  Escape: onBoard(changeBoard, "Escape"),
});
document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement && inBoard()) changeBoard(); });
