// Keeps a page live: fetches it again when something has happened, writes times
// in the reader's zone, counts down, and says since when what is shown is stale.
(() => {
  "use strict";
  const base = document.body.dataset.base;
  const live = document.getElementById("live");
  let fresh = new Date(live.dataset.made); // when what is shown was made
  let connected = false, failed = false; // the stream of events; the last fetch
  let asked = 0, waiting = 0; // when it was fetched last; the fetch that is put off
  let fetching = false, again = false; // one is under way; another is wanted after it

  const two = (n) => String(n).padStart(2, "0");
  const clock = (t) => `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`;
  const local = (t) => t.toDateString() === new Date().toDateString() ? clock(t) : `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} ${clock(t)}`;
  const span = (s) => {
    s = Math.max(0, Math.round(s));
    const d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
    if (d) return h ? `${d} d ${h} h` : `${d} d`;
    if (h) return m ? `${h} h ${m} min` : `${h} h`;
    if (m >= 10 || (m && s % 60 === 0)) return `${m} min`;
    return m ? `${m} min ${s % 60} s` : `${s % 60} s`;
  };
  // What somebody reads or fills in is not taken from under their hands.
  const frozen = () => document.querySelector("#main form.order, #main .done, #main .probed, #main:not([data-refused]) [role=alert], #main .certificate");
  // What stands in the place of a page that is no longer shown to this reader.
  const refused = () => document.querySelector("#main[data-refused]");
  const refusal = (status) => {
    const main = document.createElement("main"), box = document.createElement("div"), title = document.createElement("h1"), text = document.createElement("p");
    main.id = "main";
    main.tabIndex = -1;
    box.className = "problem";
    title.textContent = status === 403 ? "Forbidden" : "Not Found";
    text.textContent = status === 403 ? "You may no longer see this page. Ask somebody who may, or log in as another." : "This page is no longer there.";
    text.setAttribute("role", "alert");
    box.append(title, text);
    main.append(box);
    return main;
  };

  const busy = () => frozen() || document.querySelector("dialog[open]") || document.activeElement?.closest(".strip, select, #main input");

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
      e.dataset.local = "yes";
      if (e.dataset.since) e.title = `since ${local(new Date(e.dateTime))} (${e.dateTime})`; // it says for how long
      else e.textContent = local(new Date(e.dateTime));
    }
    const still = frozen() || refused();
    const stale = !still && (!connected || failed) && (now - fresh) / 1000 > 5;
    live.classList.toggle("stale", stale);
    const text = still ? `as of ${clock(fresh)}` : stale ? `stale since ${clock(fresh)}, connecting again` : connected ? "live" : "connecting";
    if (live.textContent !== text) live.textContent = text;
  };

  // One fetch at a time, at most one a second. What has changed is changed in place,
  // so that nothing moves under the eye, the pointer or the keyboard.
  const refresh = async () => {
    if (document.hidden || busy()) return;
    if (fetching) { again = true; return; }
    const now = Date.now();
    if (now - asked < 1000) {
      waiting ||= setTimeout(() => { waiting = 0; refresh(); }, 1000 - (now - asked));
      return;
    }
    asked = now;
    fetching = true;
    try {
      const answer = await fetch(location.pathname + location.search, { redirect: "manual", signal: AbortSignal.timeout(30000) });
      if (answer.type === "opaqueredirect" && !busy()) { location.reload(); return; } // to the login, be it that of a proxy
      if (answer.status === 401 && !busy()) { // the session is over
        location.href = `${base}/login?to=${encodeURIComponent(location.pathname.slice(base.length) + location.search)}`;
        return;
      }
      const no = answer.status === 403 || answer.status === 404;
      if (!answer.ok && !no) throw new Error(answer.statusText);
      let made = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
      if (no) {
        made ??= refusal(answer.status);
        made.dataset.refused = answer.status;
      }
      if (!made) throw new Error("this is no page of ours"); // what stands in front answers
      if (!busy()) { // since it was asked for
        for (const d of document.querySelectorAll("#main details[open][id]")) made.querySelector(`#${CSS.escape(d.id)}`)?.setAttribute("open", "");
        Idiomorph.morph(document.getElementById("main"), made, { morphStyle: "outerHTML" });
        fresh = new Date();
      }
      failed = false;
    } catch {
      failed = true;
    }
    fetching = false;
    tick();
    if (again) { again = false; refresh(); }
  };

  // A page that is not looked at has no stream: a browser has six connections to a
  // server, for all of its tabs and for the pages that it keeps to go back to.
  let source;
  const listen = () => {
    if (source || document.hidden || document.querySelector("form.order")) return;
    const stream = source = new EventSource(`${base}/api/v1/events/stream`);
    stream.onopen = () => { connected = true; refresh(); tick(); };
    stream.onmessage = refresh;
    stream.addEventListener("event", refresh);
    stream.onerror = () => {
      connected = false;
      if (stream.readyState === EventSource.CLOSED) setTimeout(() => {
        if (source !== stream) return;
        source = undefined;
        refresh();
        listen();
      }, 5000);
      tick();
    };
  };
  const leave = () => { source?.close(); source = undefined; connected = false; };
  listen();
  setInterval(() => { if (connected) refresh(); }, 2000);
  setInterval(tick, 1000);
  document.addEventListener("visibilitychange", () => { if (document.hidden) leave(); else { listen(); refresh(); } });
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (e) => { if (e.persisted) { listen(); refresh(); } });
  tick();

  // The strip of outcomes says what is under the pointer or, by the arrow keys,
  // under the mark.
  const mark = (strip, rect) => {
    const all = [...strip.querySelectorAll("rect")], i = all.indexOf(rect);
    if (i < 0) return;
    for (const r of all) r.classList.toggle("marked", r === rect);
    const text = `${local(new Date(rect.dataset.at))}: ${rect.dataset.text}`;
    strip.setAttribute("aria-valuenow", i + 1);
    strip.setAttribute("aria-valuetext", text);
    document.getElementById(strip.dataset.says).textContent = text;
  };
  document.addEventListener("keydown", (e) => {
    const strip = e.target.closest?.(".strip");
    if (!strip) return;
    const all = [...strip.querySelectorAll("rect")];
    let i = all.findIndex((r) => r.classList.contains("marked"));
    if (i < 0) i = all.length;
    const to = { ArrowLeft: i - 1, ArrowDown: i - 1, ArrowRight: i + 1, ArrowUp: i + 1, PageUp: i + 12, PageDown: i - 12, Home: 0, End: all.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    mark(strip, all[Math.min(all.length - 1, Math.max(0, to))]);
  });
  document.addEventListener("pointermove", (e) => {
    const strip = e.target.closest?.(".strip");
    if (!strip) return;
    const box = strip.getBoundingClientRect(), x = strip.viewBox.baseVal.width * (e.clientX - box.left) / box.width;
    mark(strip, [...strip.querySelectorAll("rect")].findLast((r) => r.x.baseVal.value <= x));
  });

  // Actions open in a dialog; without this script they are pages.
  const say = (dialog, text, role) => {
    const p = document.createElement("p"), close = document.createElement("a");
    p.textContent = text;
    p.setAttribute("role", role);
    if (role === "alert") p.className = "refused";
    close.className = "button";
    close.href = location.href;
    close.textContent = "Close";
    dialog.replaceChildren(p, close);
    dialog.setAttribute("aria-label", text);
    dialog.removeAttribute("aria-labelledby");
  };
  document.addEventListener("click", async (e) => {
    const a = e.target.closest("a.do");
    if (!a || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
    e.preventDefault();
    const dialog = document.createElement("dialog");
    const fill = async (url, options) => {
      try {
        const answer = await fetch(url, options);
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const body = page.querySelector("#main");
        if (!body || page.querySelector("form.login")) { location.href = a.href; return; }
        dialog.replaceChildren(...document.importNode(body, true).childNodes);
        const title = dialog.querySelector("h1");
        if (title) {
          title.id = "order-title";
          dialog.setAttribute("aria-labelledby", "order-title");
          dialog.removeAttribute("aria-label");
        }
        dialog.querySelector("#reason, a.button, button")?.focus();
        tick();
      } catch {
        say(dialog, "The controller did not answer. What was asked for may have been done: look at the page, and try again.", "alert");
      }
    };
    dialog.addEventListener("submit", async (s) => {
      s.preventDefault();
      const form = s.target, sent = new URLSearchParams(new FormData(form, s.submitter));
      for (const b of form.querySelectorAll("button")) b.disabled = true;
      await fill(form.action, { method: "POST", body: sent });
    });
    dialog.addEventListener("click", (c) => { if (c.target.closest("a.button")) { c.preventDefault(); dialog.close(); } });
    dialog.addEventListener("close", () => { dialog.remove(); a.focus(); refresh(); });
    document.body.append(dialog);
    say(dialog, "Asking what would change…", "status");
    dialog.showModal();
    await fill(a.href);
  });
  addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; });
})();
