// Names for what the theme leaves without: a screen reader tells the two asides apart.
document.addEventListener("DOMContentLoaded", () => {
  const names = { ".sidebar-drawer": "Pages of the site", ".toc-drawer": "On this page" };
  for (const [drawer, name] of Object.entries(names))
    document.querySelector(drawer)?.setAttribute("aria-label", name);
  if (!document.querySelector("h1")) // the page of search
    document.querySelector("[role=main]")?.insertAdjacentHTML("afterbegin", "<h1>Search</h1>");
  for (const pre of document.querySelectorAll(".highlight pre, .math-wrapper, .symattn p, .symattn .chain, .table-wrapper"))
    if (pre.scrollWidth > pre.clientWidth || pre.scrollHeight > pre.clientHeight) pre.tabIndex = 0;
});
