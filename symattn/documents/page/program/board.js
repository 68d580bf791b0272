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
  $("#stage-heading").focus();
}

function showNext() {
  if (document.body.classList.contains("veiled")) { veil(false); return; }
  if (isLast()) return;
  goOn(1);
  veil(!scene.frames[scene.at].opens && !scene.frames[scene.at].closes);
}

keysWhile(always, { b: changeBoard });
keysWhile(inBoard, {
  ArrowRight: showNext,
  " ": showNext,
  ArrowLeft() { goOn(-1); veil(false); },
  Escape: changeBoard,
});
document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement && inBoard()) changeBoard(); });
