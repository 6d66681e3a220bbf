"use strict";
// Requests to the server that sent this page; the token is in the address.
const view = (() => {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const headers = { "X-Wavesieve-Token": token };

  const answer = async (response) => {
    const body = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(body.error ?? `${response.status} ${response.statusText}`);
    return body;
  };
  const get = async (path, parameters = {}) => {
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
    const query = new URLSearchParams(given).toString();
    return answer(await fetch(`/api/${path}${query && "?"}${query}`, { headers }));
  };
  const post = async (path, body) => {
    const type = { "Content-Type": "application/json" };
    return answer(await fetch(`/api/${path}`, { method: "POST", headers: { ...headers, ...type }, body: JSON.stringify(body) }));
  };

  // A look at the news keeps the program running. No request stays open, because all windows share six connections.
  const listeners = [];
  const fresh = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
  let name = fresh();
  let known = 0;
  let failures = 0;
  let timer = 0;
  const gone = (isGone) => { document.getElementById("gone").hidden = !isGone; };
  const look = async () => {
    clearTimeout(timer);
    const own = name;
    try {
      const { news } = await get("news", { window: own });
      failures = 0;
      gone(false);
      if (news !== known) {
        known = news;
        listeners.forEach((listener) => listener());
      }
    } catch {
      failures += 1;
      gone(failures > 2);
    }
    clearTimeout(timer);
    if (own === name) timer = setTimeout(look, document.hidden ? 20_000 : 1000);
  };
  const leave = () => {
    clearTimeout(timer);
    // The request outlives the page. A beacon would have no origin in some browsers, and the server refuses it then.
    const query = new URLSearchParams({ window: name });
    fetch(`/api/closed?${query}`, { method: "POST", keepalive: true, headers }).catch(() => {});
    name = "";
  };
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    name = fresh();
    look();
  });
  document.addEventListener("visibilitychange", () => { if (name && !document.hidden) look(); });
  look();
  const onNews = (listener) => listeners.push(listener);
  return { get, post, onNews, name: () => name };
})();
