// Keeps a page live: fetches it again when something has happened, writes times
// in the reader's zone, counts down, and says since when what is shown is stale.
(() => {
  "use strict";
  const base = document.body.dataset.base;
  const live = document.getElementById("live");
  let fresh = new Date(live.dataset.made); // when what is shown was made
  let connected = false;
  let asked = 0, waiting = 0; // when it was fetched last; the fetch that is put off

  const two = (n) => String(n).padStart(2, "0");
  const clock = (t) => `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`;
  const span = (s) => {
    s = Math.max(0, Math.round(s));
    const d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
    if (d) return h ? `${d} d ${h} h` : `${d} d`;
    if (h) return m ? `${h} h ${m} min` : `${h} h`;
    if (m >= 10 || (m && s % 60 === 0)) return `${m} min`;
    return m ? `${m} min ${s % 60} s` : `${s % 60} s`;
  };

  const tick = () => {
    const now = new Date();
    for (const e of document.querySelectorAll("[data-since]")) e.textContent = span((now - new Date(e.dataset.since)) / 1000);
    for (const e of document.querySelectorAll("[data-until]")) {
      const left = (new Date(e.dataset.until) - now) / 1000;
      e.textContent = left > 0 ? `(in ${span(left)})` : "(due)";
    }
    for (const e of document.querySelectorAll("[data-to]")) {
      const from = new Date(e.dataset.from), to = new Date(e.dataset.to);
      e.querySelector("rect.fill")?.setAttribute("width", Math.min(100, Math.max(1, Math.round(100 * (now - from) / (to - from)))));
    }
    for (const e of document.querySelectorAll("time:not([data-local])")) {
      const t = new Date(e.dateTime);
      e.dataset.local = "yes";
      e.textContent = t.toDateString() === now.toDateString() ? clock(t) : `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} ${clock(t)}`;
    }
    const age = (now - fresh) / 1000;
    const stale = !connected && age > 5;
    live.classList.toggle("stale", stale);
    const text = connected ? "live" : stale ? `stale since ${clock(fresh)}, connecting again` : "connecting";
    if (live.textContent !== text) live.textContent = text;
  };

  // One fetch at a time, at most one a second.
  const refresh = () => {
    if (document.hidden || document.querySelector("dialog[open]") || document.querySelector("#main form.order, #main .done, #main .probed")) return;
    const now = Date.now();
    if (now - asked < 1000) {
      waiting ||= setTimeout(() => { waiting = 0; refresh(); }, 1000 - (now - asked));
      return;
    }
    asked = now;
    document.body.dispatchEvent(new Event("refresh"));
  };
  document.body.addEventListener("htmx:configRequest", (e) => {
    if (e.detail.elt.id === "main") e.detail.path = location.pathname + location.search;
  });
  document.body.addEventListener("htmx:beforeSwap", (e) => {
    if (e.detail.elt.id === "main" && new URL(e.detail.xhr.responseURL).pathname !== location.pathname) { e.detail.shouldSwap = false; location.reload(); }
  });
  document.body.addEventListener("htmx:afterSwap", () => { fresh = new Date(); tick(); });

  let source;
  const listen = () => {
    source = new EventSource(`${base}/api/v1/events/stream`);
    source.onopen = () => { connected = true; fresh = new Date(); refresh(); tick(); };
    source.onmessage = refresh;
    source.addEventListener("event", refresh);
    source.onerror = () => {
      connected = false;
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, 5000);
      tick();
    };
  };
  if (!document.querySelector("form.order")) listen();
  setInterval(() => { if (connected) { fresh = new Date(); refresh(); } }, 2000);
  setInterval(tick, 1000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  tick();

  // Actions open in a dialog; without this script they are pages.
  document.addEventListener("click", async (e) => {
    const a = e.target.closest("a.do");
    if (!a || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
    e.preventDefault();
    const dialog = document.createElement("dialog");
    dialog.setAttribute("aria-labelledby", "order-title");
    const fill = async (answer) => {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const body = page.querySelector("#main");
      if (!body) { location.href = a.href; return; }
      dialog.replaceChildren(...document.importNode(body, true).childNodes);
      const title = dialog.querySelector("h1");
      if (title) title.id = "order-title";
      dialog.querySelector("input:not([type=hidden]), a, button")?.focus();
    };
    dialog.addEventListener("submit", async (s) => {
      s.preventDefault();
      const form = s.target;
      await fill(await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, s.submitter)) }));
    });
    dialog.addEventListener("click", (c) => { if (c.target.closest("a.button")) { c.preventDefault(); dialog.close(); } });
    dialog.addEventListener("close", () => { dialog.remove(); a.focus(); refresh(); });
    document.body.append(dialog);
    await fill(await fetch(a.href));
    dialog.showModal();
  });
})();
