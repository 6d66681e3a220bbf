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

  // The open stream keeps the program running, and brings news of work in the background.
  const listeners = [];
  const events = new EventSource(`/api/events?token=${encodeURIComponent(token)}`);
  events.onmessage = () => listeners.forEach((listener) => listener());
  const onNews = (listener) => listeners.push(listener);
  return { get, post, onNews };
})();
