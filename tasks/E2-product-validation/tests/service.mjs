// The library of judges that run the agent's project as a service and talk to it over HTTP.
// Plain Node.js (>= 20), no dependencies; copied into each task beside judge-utils.mjs.
//   - The project runs as a copy, in the judge's work directory, with the dependencies that the agent left.
//   - Its port is chosen by the system (PORT=0) and read from its line "listening on http://127.0.0.1:<port>".
//   - What the service does or fails to do is an answer, never an exception. When it does not even start, the
//     project as it was is started as a control; when that fails too, the judge could not judge.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { EvaluatorError, copyTree, tail } from "./judge-utils.mjs";

export const VERSION = "1.0.0";

/** The steps that startService() takes, for the judge's declaration. */
export const SERVICE_STEPS = [
  { id: "service", budget_s: 150 },
  { id: "control", budget_s: 60 },
];

const BASELINE = "/opt/bench/baseline";
const BASELINE_MODULES = "/opt/bench/modules/node_modules";
const ANSWER_LIMIT = 4 * 1024 * 1024;
/** A service that left this many requests unanswered is asked no more. */
const PATIENCE = 3;
/** How long the end of a service may take to be seen, after it cut a connection. */
const END_S = 1;

/**
 * Copy a project into the judge's work directory; its dependencies are linked, not copied.
 * @returns {string} the copy's directory
 */
export function takeProject(judge, { source = judge.fixture, modules = path.join(source, "node_modules"), name = "project" } = {}) {
  const directory = path.join(judge.work, name);
  for (const problem of copyTree(source, directory)) judge.note(`skipped ${problem}`);
  if (fs.existsSync(modules)) fs.symlinkSync(modules, path.join(directory, "node_modules"));
  return directory;
}

/**
 * Start the agent's service in a copy of the project. It ends with the judge.
 * @param {{directory?: string, entry?: string, env?: Record<string, string>, start_s?: number, baseline?: string,
 *   baselineModules?: string}} options start_s: how long it may take until it listens
 * @returns {Promise<Service>} one that did not start answers each call with status 0
 */
export async function startService(judge, options = {}) {
  const { directory = takeProject(judge), baseline = BASELINE, baselineModules = BASELINE_MODULES, ...rest } = options;
  const service = await start(judge, "service", directory, rest);
  if (service.address === null) {
    const before = takeProject(judge, { source: baseline, modules: baselineModules, name: "control" });
    const control = await start(judge, "control", before, rest);
    if (control.address === null) throw new EvaluatorError(`the project does not even start as it was: ${control.problem}`);
    judge.note(`the service does not start: ${service.problem}`);
  }
  return service;
}

async function start(judge, step, directory, { entry = "src/server.ts", env = {}, start_s = 60 }) {
  let listening;
  const address = new Promise((resolve) => {
    listening = resolve;
  });
  const ended = judge.exec(step, ["node", entry], {
    cwd: directory,
    env: { PORT: "0", ...env },
    onOutput: (output) => {
      const line = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(output);
      if (line !== null) listening(line[1]);
    },
  });
  const first = await within(start_s, Promise.race([address, ended]));
  if (first === null) return new Service(null, `it does not listen within ${start_s} s`, ended);
  if (typeof first === "string") return new Service(first, null, ended);
  if (first.signal !== null) judge.mustExit(first);
  return new Service(null, `it ends with ${first.exitCode}: ${causeOf(first.output)}`, ended);
}

/** The line of a program's output that says why it ended: the error, rather than the end of its stack. */
export function causeOf(output) {
  return /^(?:Uncaught )?\w*Error\b.*$/m.exec(output)?.[0].slice(0, 300) ?? tail(output);
}

/**
 * @typedef {{status: number, headers: object, text: string, json: any, problem: string|null, summary: string}} Answer
 *   status 0 and a problem when there was no answer; json is undefined when the body is not JSON; summary is one
 *   line for a reason
 */
class Service {
  #unanswered = 0;
  #ended;

  constructor(address, problem, ended) {
    this.address = address;
    this.problem = problem;
    this.#ended = ended.catch(() => null);
  }

  /**
   * One request.
   * @param {string} method @param {string} where a path
   * @param {any} [body] sent as JSON; a string or Buffer is sent as it is
   * @param {{headers?: object, timeout_s?: number}} [options]
   * @returns {Promise<Answer>}
   */
  async call(method, where, body, { headers = {}, timeout_s = 10 } = {}) {
    if (this.address === null) return answerOf({ problem: "the service does not run" });
    if (this.#unanswered >= PATIENCE) return answerOf({ problem: "the service stopped answering" });
    const data = body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const sent = data === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(data) };
    const answer = await request(new URL(where, this.address), { method, headers: { ...sent, ...headers }, data, timeout_s });
    if (answer.status !== 0) return answer;
    this.#unanswered += 1;
    // A cut connection may be the first that is seen of the service's end.
    const end = await within(answer.timedOut ? 0 : END_S, this.#ended);
    if (end === null) return answer;
    // A service that was killed, for want of memory say, is no statement about the submission.
    if (end.signal !== null) throw new EvaluatorError(`the service was killed by ${end.signal}: ${tail(end.output)}`);
    return answerOf({ problem: `${answer.problem}; the service ended with ${end.exitCode}: ${causeOf(end.output)}` });
  }
}

/** What the promise gives, or null when it takes longer. */
async function within(seconds, promise) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(null), seconds * 1000);
  });
  const result = await Promise.race([promise, late]);
  clearTimeout(timer);
  return result;
}

function request(url, { method, headers, data, timeout_s }) {
  return new Promise((resolve) => {
    let timedOut = false;
    const fail = (problem) => resolve({ ...answerOf({ problem }), timedOut });
    const call = http.request(url, { method, headers, agent: false }, (response) => {
      const parts = [];
      let size = 0;
      response.on("data", (part) => {
        size += part.length;
        if (size > ANSWER_LIMIT) call.destroy(new Error(`an answer of more than ${ANSWER_LIMIT} bytes`));
        else parts.push(part);
      });
      response.on("error", (error) => fail(error.message));
      response.on("end", () => {
        const { statusCode: status, headers: received } = response;
        resolve(answerOf({ status, headers: received, text: Buffer.concat(parts).toString("utf8") }));
      });
    });
    // Of the whole exchange: a socket's own time-out would wait for ever on an answer that trickles.
    const timer = setTimeout(() => {
      timedOut = true;
      call.destroy(new Error(`no answer within ${timeout_s} s`));
    }, timeout_s * 1000);
    call.on("close", () => clearTimeout(timer));
    call.on("error", (error) => fail(error.message));
    call.end(data);
  });
}

function answerOf({ status = 0, headers = {}, text = "", problem = null }) {
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  const shown = text.length > 120 ? `${text.slice(0, 120)}...` : text;
  const summary = problem ?? `${status} ${shown.replaceAll(/\s+/g, " ")}`.trim();
  return { status, headers, text, json, problem, summary };
}
