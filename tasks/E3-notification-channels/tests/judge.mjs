// E3: Send notifications over more than one channel
// Judged: what three gateways (in this process, on a port of the system's choice) receive from the running service,
// what it answers, and what an importer of NotificationService gets. Not judged: classes, names, code layout, tests.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { defineJudge } from "./judge-utils.mjs";
import { SERVICE_STEPS, causeOf, startService, takeProject } from "./service.mjs";

const judge = defineJudge({
  task: "E3-notification-channels",
  mode: "mutable",
  time_limit_s: 300,
  steps: [...SERVICE_STEPS, { id: "importer", budget_s: 30 }],
  checks: [
    { id: "channels", points: 25 },
    { id: "choice", points: 15 },
    { id: "isolation", points: 12 },
    { id: "status", points: 13 },
    { id: "waiting", points: 5 },
    { id: "refused", points: 10 },
    { id: "compatible", points: 20 },
  ],
});

/** How long a slow gateway takes until it refuses. */
const SLOW_MS = 500;
const NAMES = ["email", "sms", "push"];
const everything = (id) => ({ id, name: id, email: `${id}@example.org`, phone: `+1-${id}`, device: `device-${id}` });
const USERS = [
  everything("plain"),
  { ...everything("blank"), preferences: { channels: [] } },
  { ...everything("texter"), preferences: { channels: ["sms"] } },
  { ...everything("pair"), preferences: { channels: ["push", "email"] } },
  { ...everything("blocked"), preferences: { channels: ["sms"] } },
  { id: "mailer", name: "mailer", email: "mailer@example.org" },
  { id: "caller", name: "caller", phone: "+1-caller" },
];

/** The three gateways. `mode` says what each does; `taken` is what came in, in order. */
class Gateways {
  mode = { email: "ok", sms: "ok", push: "ok" };
  taken = [];

  async open() {
    const server = http.createServer(async (request, response) => {
      let text = "";
      for await (const part of request) text += part;
      const channel = request.url.slice(1);
      let body = null;
      try {
        body = JSON.parse(text);
      } catch {
        // shown as null
      }
      this.taken.push({ channel, body, at: performance.now() });
      const mode = this.mode[channel];
      if (mode === "slow") await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      if (mode === "reset") return void request.socket.destroy();
      if (mode === "error" || mode === "slow") return void response.writeHead(503).end("{}");
      if (channel !== "sms") return void response.writeHead(202).end("{}");
      const accepted = body?.to !== "+1-blocked";
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(accepted ? { accepted } : { accepted, reason: "number blocked" }));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${server.address().port}`;
    return { EMAIL_GATEWAY_URL: `${base}/email`, SMS_GATEWAY_URL: `${base}/sms`, PUSH_GATEWAY_URL: `${base}/push` };
  }
}

/** What each gateway must have got for one message to one user. */
function expected(channel, user, message) {
  if (channel === "email") return { to: `${user}@example.org`, subject: "Notification", text: message };
  if (channel === "sms") return { to: `+1-${user}`, text: message };
  return { device: `device-${user}`, title: "Notification", body: message };
}

/** Another service's code, from before there were channels. */
const IMPORTER = `
import { NotificationService, UnknownUserError } from "./src/services/notification-service.ts";
const users = new Map([
  ["old", { id: "old", name: "Old", email: "old@example.org", phone: "+1-old", device: "device-old" }],
  ["none", { id: "none", name: "None" }],
]);
const service = new NotificationService(users);
const sent = await service.sendNotification("old", "from an importer");
const failed = await service.sendNotification("none", "nowhere to go");
let unknown = false;
try { await service.sendNotification("nobody", "x"); } catch (error) { unknown = error instanceof UnknownUserError; }
const fields = typeof sent.id === "string" && sent.userId === "old" && sent.message === "from an importer"
  && !Number.isNaN(Date.parse(sent.createdAt));
console.log(JSON.stringify({
  sent: sent.status, failed: failed.status, unknown, fields,
  kept: service.get(sent.id)?.id === sent.id && service.listFor("old").length === 1 && service.get("x") === undefined,
}));
process.exit();
`;

async function grade() {
  judge.gate();
  const gateways = new Gateways();
  const users = path.join(judge.work, "users.json");
  fs.writeFileSync(users, JSON.stringify(USERS));
  const env = { ...(await gateways.open()), USERS_FILE: users, GATEWAY_TIMEOUT_MS: "10000" };
  const project = takeProject(judge);
  fs.writeFileSync(path.join(project, "importer.judge.mjs"), IMPORTER);
  const service = await startService(judge, { directory: project, env });
  judge.require(service.address !== null, `the service does not start: ${service.problem}`);
  const ask = new Asker(service, gateways);

  const faults = [];
  let right = 0;
  for (const channels of [["sms"], ["push"], ["email", "sms", "push"], ["push", "sms"]]) {
    const fault = await ask.fault({ user: "plain", channels, used: channels });
    if (fault === null) right += 1;
    else faults.push(fault);
  }
  const channels = judge.band(
    "channels",
    [
      [faults.length === 0, 25, "each channel that a request names gets the message"],
      [right > 0, 10, `some channels work: ${faults[0]}`],
    ],
    faults[0] ?? "",
  );
  if (channels === 0) {
    for (const check of ["choice", "isolation", "status", "waiting", "refused", "compatible"])
      judge.award(check, 0, "counts once a request's channels are used");
    return;
  }

  await judgeChoice(ask);
  await judgeFailures(ask);
  await judgeRefusals(ask);
  await judgeCompatible(ask, project, env);
}

/** Sends a notification and looks at what came of it. */
class Asker {
  #count = 0;

  constructor(service, gateways) {
    this.service = service;
    this.gateways = gateways;
  }

  async send(user, channels) {
    this.#count += 1;
    const message = `message ${this.#count}`;
    const before = this.gateways.taken.length;
    const answer = await this.service.call("POST", "/notifications", { userId: user, message, ...(channels === undefined ? {} : { channels }) });
    return { answer, message, taken: this.gateways.taken.slice(before) };
  }

  /**
   * @param {{user: string, channels?: string[], used: string[], failed?: string[], unasked?: string[]}} expectation
   *   used: the channels that must be tried, in order; failed: those of them that fail; unasked: those without an address
   * @returns {Promise<string|null>} the first thing that is not as it must be
   */
  async fault({ user, channels, used, failed = [], unasked = [] }) {
    const { answer, message, taken } = await this.send(user, channels);
    const what = `${user}, ${channels === undefined ? "no channels named" : JSON.stringify(channels)}`;
    const gotten = deliveredFault(taken, used.filter((name) => !unasked.includes(name)), user, message);
    return gotten !== null ? `${what}: ${gotten}` : await this.statusFault(what, answer, used, [...failed, ...unasked]);
  }

  async statusFault(what, answer, used, failed) {
    const status = failed.length === used.length ? "failed" : "sent";
    if (answer.status !== (status === "sent" ? 201 : 502)) return `${what}: ${answer.summary}`;
    const told = answer.json?.deliveries;
    const wanted = used.map((name) => `${name} ${failed.includes(name) ? "failed" : "sent"}`).join(", ");
    const said = Array.isArray(told) ? told.map((delivery) => `${delivery?.channel} ${delivery?.status}`).join(", ") : "none";
    if (said !== wanted) return `${what}: the deliveries are ${said}, not ${wanted}`;
    for (const delivery of told) {
      const hasError = typeof delivery.error === "string" && delivery.error !== "";
      if (hasError !== (delivery.status === "failed")) return `${what}: ${JSON.stringify(delivery)} must have an error if and only if it failed`;
    }
    if (answer.json.status !== status) return `${what}: the status is ${answer.json.status}, not ${status}`;
    const again = await this.service.call("GET", `/notifications/${answer.json.id}`);
    if (JSON.stringify(again.json?.deliveries) !== JSON.stringify(told) || again.json?.status !== status) return `${what}: read again, it is ${again.summary}`;
    return null;
  }
}

/** Whether just the named gateways got just the one message. */
function deliveredFault(taken, names, user, message) {
  const got = taken.map((item) => item.channel).sort().join(", ");
  const wanted = [...names].sort().join(", ");
  if (got !== wanted) return `the gateways asked were ${got || "none"}, not ${wanted || "none"}`;
  for (const { channel, body } of taken) {
    const right = expected(channel, user, message);
    const keys = Object.keys(right);
    if (Object.keys(body ?? {}).length !== keys.length || keys.some((key) => body[key] !== right[key]))
      return `the ${channel} gateway got ${JSON.stringify(body)}`;
  }
  return null;
}

async function judgeChoice(ask) {
  const defaults = [];
  for (const user of ["plain", "blank"]) {
    const { taken } = await ask.send(user);
    if (taken.map((item) => item.channel).join() !== "email") defaults.push(`a user who chose nothing (${user}) gets ${taken.map((item) => item.channel).join(", ") || "nothing"}`);
  }
  const faults = [...defaults];
  for (const expectation of [
    { user: "plain", used: ["email"] },
    { user: "texter", used: ["sms"] },
    { user: "pair", used: ["push", "email"] },
    { user: "texter", channels: ["push"], used: ["push"] },
    { user: "pair", channels: ["email", "sms", "email"], used: ["email", "sms"] },
  ]) {
    const fault = await ask.fault(expectation);
    if (fault !== null) faults.push(fault);
  }
  if (defaults.length > 0) judge.cap(60, defaults[0]);
  judge.band(
    "choice",
    [
      [faults.length === 0, 15, "the request's channels, else the user's, else e-mail"],
      [defaults.length === 0 && faults.length === 1, 7, faults[0]],
    ],
    faults[0] ?? "",
  );
}

async function judgeFailures(ask) {
  const { mode } = ask.gateways;
  const silenced = [];
  const untrue = [];
  /** One round: which gateways fail, and how; everything else must still arrive, and be told as it was. */
  const round = async (user, used, failing, { unasked = [], refused = [] } = {}) => {
    Object.assign(mode, failing);
    const { answer, message, taken } = await ask.send(user, used);
    Object.assign(mode, { email: "ok", sms: "ok", push: "ok" });
    const what = `${user} over ${used.join(", ")}${Object.entries(failing).map(([name, how]) => `, ${name}: ${how}`).join("")}`;
    const arrived = deliveredFault(taken, used.filter((name) => !unasked.includes(name)), user, message);
    if (arrived !== null) silenced.push(`${what}: ${arrived}`);
    const told = await ask.statusFault(what, answer, used, [...Object.keys(failing), ...unasked, ...refused]);
    if (told !== null) untrue.push(told);
    return taken;
  };
  for (const first of NAMES) {
    const others = NAMES.filter((name) => name !== first);
    await round("plain", [first, ...others], { [first]: first === "sms" ? "reset" : "error" });
  }
  await round("plain", ["email", "push"], { email: "error", push: "reset" });
  await round("plain", ["sms"], { sms: "error" });
  await round("mailer", ["sms", "email", "push"], {}, { unasked: ["sms", "push"] });
  await round("caller", ["email", "sms"], {}, { unasked: ["email"] });
  const plain = untrue.length;
  await round("blocked", ["sms", "push"], {}, { refused: ["sms"] });
  await round("blocked", ["sms"], {}, { refused: ["sms"] });
  const believed = untrue.slice(plain);
  // Other programs may delay a message, too: one round in which none waits is enough.
  let waited_ms = Infinity;
  for (let tries = 0; tries < 3 && waited_ms > SLOW_MS * 0.75; tries++) {
    const taken = await round("plain", ["email", "push", "sms"], { email: "slow" });
    const answered = performance.now();
    const times = taken.map((item) => item.at);
    if (times.length === 3) waited_ms = Math.min(waited_ms, Math.max(...times) - Math.min(...times));
    if (times.length > 0 && answered - Math.min(...times) < SLOW_MS * 0.75) judge.cap(45, "the answer comes before the channels are settled");
  }

  judge.band("isolation", [[silenced.length === 0, 12, "a channel that fails stops no other"]], silenced[0] ?? "");
  if (silenced.length > 0) judge.cap(70, "a channel that fails silences another");
  judge.band(
    "status",
    [
      [untrue.length === 0, 13, "each notification says what became of each channel"],
      [untrue.length === believed.length, 7, `an SMS that was not accepted counts as sent: ${believed[0]}`],
    ],
    untrue[0] ?? "",
  );
  judge.band(
    "waiting",
    [[waited_ms <= SLOW_MS * 0.75, 5, "no channel waits for another"]],
    waited_ms === Infinity ? "not every channel was tried beside a slow one" : `a channel waited ${Math.round(waited_ms)} ms for a slow one`,
  );
}

async function judgeRefusals(ask) {
  let fault = null;
  const before = (await ask.service.call("GET", "/users/plain/notifications")).json?.length;
  for (const channels of [["fax"], ["email", "fax"], [], "sms", ["Email"], [["sms"]], { sms: true }, 1, ["constructor"], [null]]) {
    const { answer, taken } = await ask.send("plain", channels);
    const refused = answer.status === 400 && typeof answer.json?.error === "string";
    if (!refused || taken.length > 0) fault ??= `${JSON.stringify(channels)}: ${answer.summary}${taken.length > 0 ? `, and ${taken.length} sent` : ""}`;
  }
  const list = (await ask.service.call("GET", "/users/plain/notifications")).json;
  if (list?.length !== before) fault ??= "a refused notification is kept";
  judge.band("refused", [[fault === null, 10, "channels that are none are refused"]], fault ?? "");
}

async function judgeCompatible(ask, project, env) {
  const faults = [];
  const { service, gateways } = ask;
  const old = await ask.send("plain");
  const mail = deliveredFault(old.taken, ["email"], "plain", old.message);
  if (mail !== null) faults.push(mail);
  for (const field of ["id", "userId", "message", "status", "createdAt"])
    if (typeof old.answer.json?.[field] !== "string") faults.push(`a notification has no ${field}: ${old.answer.summary}`);
  for (const [method, where, body, status] of [
    ["POST", "/notifications", { userId: "nobody", message: "x" }, 404],
    ["POST", "/notifications", { userId: "plain" }, 400],
    ["GET", "/notifications/nothing", undefined, 404],
  ]) {
    const answer = await service.call(method, where, body);
    if (answer.status !== status) faults.push(`${method} ${where} answers ${answer.summary}`);
  }
  const list = await service.call("GET", "/users/plain/notifications");
  if (list.json?.at?.(-1)?.id !== old.answer.json?.id) faults.push(`GET /users/plain/notifications answers ${list.summary}`);
  gateways.mode.email = "error";
  const before = gateways.taken.length;
  const reminders = await service.call("POST", "/reminders", { userIds: ["plain", "texter", "pair"], message: "pay" });
  gateways.mode.email = "ok";
  const asked = gateways.taken.slice(before).map((item) => item.channel);
  // plain: e-mail, which fails; texter: SMS; pair: push and e-mail, of which one fails.
  if (reminders.json?.sent !== 2 || reminders.json?.failed !== 1) faults.push(`POST /reminders counts ${reminders.summary}`);
  else if ([...asked].sort().join() !== "email,email,push,sms") faults.push(`POST /reminders asks ${asked.join(", ")}`);

  const start = gateways.taken.length;
  const importer = await judge.exec("importer", ["node", "importer.judge.mjs"], { cwd: project, env });
  judge.mustExit(importer);
  const said = importer.exitCode === 0 ? JSON.parse(importer.stdout.trim().split("\n").at(-1)) : null;
  const gotten = deliveredFault(gateways.taken.slice(start), ["email"], "old", "from an importer");
  let broken = null;
  if (said === null) broken = causeOf(importer.output);
  else if (said.sent !== "sent" || said.failed !== "failed" || !said.unknown || !said.fields || !said.kept) broken = JSON.stringify(said);
  else broken = gotten;
  if (broken !== null) {
    faults.push(`an importer of NotificationService that knows no channels fails: ${broken}`);
    judge.cap(50, "the services that import NotificationService are broken");
  }
  judge.band("compatible", [[faults.length === 0, 20, "callers that know nothing of channels get what they got"]], faults.slice(0, 3).join("; "));
}

await judge.run(grade);
