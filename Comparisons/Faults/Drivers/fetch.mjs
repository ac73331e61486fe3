// The driver of Node's fetch. Node has no client of its own for each case, but each case has ports of its own.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import http from "node:http";
import { createInterface } from "node:readline";
import tls from "node:tls";
import { setTimeout as pause } from "node:timers/promises";

const FEATURES = ["http1", "tls", "proxy", "proxy-environment", "decode", "timeout", "cancel", "concurrency", "fields", "redirects"];

function signal(call) {
  const signals = [];
  if ("deadline" in call) {
    signals.push(AbortSignal.timeout(call.deadline));
  }
  if ("cancel" in call) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), call.cancel);
    signals.push(controller.signal);
  }
  return signals.length ? AbortSignal.any(signals) : undefined;
}

async function perform(call) {
  const begin = performance.now();
  let result;
  try {
    const body = "body" in call ? Buffer.from(call.body, "latin1") : undefined;
    const response = await fetch(call.url, { method: call.method, headers: call.fields, body, signal: signal(call) });
    const data = Buffer.from(await response.arrayBuffer());
    const fields = (call.read ?? []).filter((name) => response.headers.has(name)).map((name) => [name, response.headers.get(name)]);
    result = { outcome: "value", status: response.status, bytes: data.length, fields: Object.fromEntries(fields),
               sha256: createHash("sha256").update(data).digest("hex") };
  } catch (error) {
    result = { outcome: "error", error: [error, error.cause].filter(Boolean).map(String).join(": ").slice(0, 300) };
  }
  return { ...result, ms: Math.round(performance.now() - begin) };
}

async function run(kase) {
  const results = [];
  if (kase.authority) {
    tls.setDefaultCACertificates([readFileSync(kase.authority, "utf8")]);
  }
  let restore = () => {};
  if (kase.needs.includes("proxy-environment")) {
    restore = http.setGlobalProxyFromEnv();
  } else if (kase.client.proxy) {
    restore = http.setGlobalProxyFromEnv({ http_proxy: kase.client.proxy, https_proxy: kase.client.proxy });
  }
  for (const step of kase.steps) {
    await pause(Math.max(...step.map((call) => call.wait ?? 0)));
    results.push(...await Promise.all(step.map(perform)));
  }
  restore();
  return results;
}

if (process.argv.includes("--describe")) {
  console.log(JSON.stringify({ version: `Node ${process.version}, undici ${process.versions.undici}`, features: FEATURES }));
} else {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify({ results: await run(JSON.parse(line)) }));
  }
}
