// The judge library: everything between "here is what the agent left" and one JSON line.
// Plain Node.js (>= 20), no dependencies; copied into each task so that the task stands alone.
// Reference: docs/judge-utils.md of the workbench. The judge's own contract:
//   - progress goes to stderr; stdout carries one line, printed once, after the clean-up:
//     {"score","max":100,"reasons","checks":[{id,points,earned,reason}],"caps"?,"error"?}
//   - "error" means that the judge could not judge. It is never a statement about the submission.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const VERSION = "1.0.0";
const MAX = 100;
/** Kept for the clean-up and the last line, out of the verifier's time limit. */
const MARGIN_S = 15;
const OUTPUT_LIMIT = 256 * 1024;
const FIXED_PATH = "/usr/local/bin:/usr/bin:/bin";

/** The judge could not judge: no host, a step killed, a fault of its own. Never a score. */
export class EvaluatorError extends Error {
  name = "EvaluatorError";
}

/** The submission may not be graded further; the score is what the gate says (0). */
class GateClosed extends Error {
  name = "GateClosed";
}

// ---------------------------------------------------------------- reading what the agent left

/**
 * Read a regular file of the agent's, whatever lies there.
 * @returns {{text: string|null, problem: string|null}} problem names why it was not read
 */
export function readText(file, { maxBytes = 1024 * 1024 } = {}) {
  const { bytes, problem } = readBytes(file, maxBytes);
  return { text: bytes === null ? null : bytes.toString("utf8"), problem };
}

function readBytes(file, maxBytes) {
  const no = (problem) => ({ bytes: null, problem: `${file}: ${problem}` });
  let info;
  try {
    info = fs.lstatSync(file);
  } catch (error) {
    return no(error.code === "ENOENT" || error.code === "ENOTDIR" ? "does not exist" : error.code);
  }
  if (info.isSymbolicLink()) return no("is a symbolic link; links are not followed");
  if (!info.isFile()) return no(`is ${kindOf(info)}, not a regular file`);
  if (info.size > maxBytes) return no(`is ${info.size} bytes, more than the ${maxBytes} that are read`);
  try {
    return { bytes: fs.readFileSync(file), problem: null };
  } catch (error) {
    return no(error.code ?? String(error));
  }
}

/** Like readText, parsed as JSON. @returns {{value: any, problem: string|null}} */
export function readJson(file, options) {
  const { text, problem } = readText(file, options);
  if (text === null) return { value: undefined, problem };
  try {
    return { value: JSON.parse(text), problem: null };
  } catch (error) {
    return { value: undefined, problem: `${file}: not JSON (${error.message})` };
  }
}

function kindOf(info) {
  if (info.isDirectory()) return "a directory";
  if (info.isSymbolicLink()) return "a symbolic link";
  if (info.isFIFO()) return "a FIFO";
  if (info.isSocket()) return "a socket";
  if (info.isBlockDevice() || info.isCharacterDevice()) return "a device";
  return "a file";
}

/**
 * List a tree by lstat, without following links. Odd entries are listed with a problem, never fatal.
 * @returns {{entries: Map<string, {kind, executable, size, sha256: string|null, target?: string}>,
 *   problems: string[]}} paths relative to root, with forward slashes; in order
 */
export function readTree(root, { skip = [], maxFiles = 20_000, maxBytes = 16 * 1024 * 1024 } = {}) {
  const entries = new Map();
  const problems = [];
  const visit = (relative) => {
    let names;
    try {
      names = fs.readdirSync(path.join(root, relative)).sort();
    } catch (error) {
      problems.push(`${relative || "."}: ${error.code}`);
      return;
    }
    for (const name of names) {
      if (skip.includes(name)) continue;
      if (entries.size >= maxFiles) return;
      look(relative ? `${relative}/${name}` : name);
    }
  };
  const look = (inside) => {
    const full = path.join(root, inside);
    let info;
    try {
      info = fs.lstatSync(full);
    } catch (error) {
      problems.push(`${inside}: ${error.code}`);
      return;
    }
    const entry = { kind: kindOf(info), executable: false, size: info.size, sha256: null };
    entries.set(inside, entry);
    if (info.isDirectory()) {
      visit(inside);
    } else if (info.isSymbolicLink()) {
      entry.target = fs.readlinkSync(full);
      problems.push(`${inside}: is a symbolic link; links are not followed`);
    } else if (!info.isFile()) {
      problems.push(`${inside}: is ${entry.kind}; skipped`);
    } else {
      entry.executable = (info.mode & 0o111) !== 0;
      if (info.size > maxBytes) problems.push(`${inside}: is ${info.size} bytes, more than the ${maxBytes} that are read`);
      else entry.sha256 = hashOf(full);
      if (entry.sha256 === null && info.size <= maxBytes) problems.push(`${inside}: cannot be read`);
    }
  };
  visit("");
  if (entries.size >= maxFiles) problems.push(`more than ${maxFiles} entries; the rest is not looked at`);
  return { entries, problems };
}

function hashOf(file) {
  const hash = createHash("sha256");
  const piece = Buffer.alloc(1024 * 1024);
  let descriptor;
  try {
    descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    for (let count; (count = fs.readSync(descriptor, piece)) > 0; ) hash.update(piece.subarray(0, count));
    return hash.digest("hex");
  } catch {
    return null;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

/** What differs between two trees, by path. Content, kind, executable bit and a link's target count. */
export function treeChanges(before, after, { skip = [] } = {}) {
  const options = { skip, maxFiles: 200_000, maxBytes: 4 * 1024 ** 3 };
  const old = readTree(before, options).entries;
  const now = readTree(after, options).entries;
  const changes = [];
  for (const [name, entry] of now) {
    const was = old.get(name);
    if (was === undefined) changes.push({ path: name, change: "added" });
    else if (was.kind !== entry.kind || was.target !== entry.target) changes.push({ path: name, change: `now ${entry.kind}` });
    else if (entry.kind === "a file" && was.sha256 !== entry.sha256) changes.push({ path: name, change: "changed" });
    else if (was.executable !== entry.executable) changes.push({ path: name, change: "mode changed" });
  }
  for (const name of old.keys()) if (!now.has(name)) changes.push({ path: name, change: "removed" });
  return changes.sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** Copy the regular files of a tree; links, FIFOs and oversized files are left out and named. */
export function copyTree(source, target, { skip = [".git", "node_modules"], maxBytes = 16 * 1024 * 1024 } = {}) {
  const { entries, problems } = readTree(source, { skip, maxBytes });
  fs.mkdirSync(target, { recursive: true });
  for (const [name, entry] of entries) {
    const to = path.join(target, name);
    if (entry.kind === "a directory") fs.mkdirSync(to, { recursive: true });
    else if (entry.sha256 !== null) {
      fs.mkdirSync(path.dirname(to), { recursive: true });
      fs.copyFileSync(path.join(source, name), to, fs.constants.COPYFILE_EXCL);
    }
  }
  return problems;
}

/**
 * JavaScript text with its comments blanked, so that a source pattern is not met by a comment.
 * Strings, template literals and regular expressions (told from division by what precedes) stay.
 */
export function withoutComments(source) {
  const string = /"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`/.source;
  const comment = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/.source;
  const regex = /(?<=(?:^|[=(,:[!&|?{};\n]|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/.source;
  return source.replace(new RegExp(`(${comment})|${string}|${regex}`, "g"), (text, isComment) =>
    isComment === undefined ? text : text.replace(/[^\n]/g, " "),
  );
}

// ---------------------------------------------------------------- the judge

/**
 * @param {{task: string, mode: "readonly"|"mutable"|"build-artifacts-only",
 *   checks: {id: string, points: number}[], steps?: {id: string, budget_s: number, times?: number}[],
 *   time_limit_s?: number, fixture?: string, baseline?: string, compile_cache?: string, work_root?: string,
 *   dsh?: string, output?: NodeJS.WritableStream}} spec
 *   points add up to 100; step budgets, with a margin, fit into the verifier's time limit
 */
export function defineJudge(spec) {
  return new Judge({
    steps: [],
    time_limit_s: 600,
    fixture: "/app/fixture",
    baseline: "/opt/bench/baseline",
    compile_cache: "/opt/dsh/compile-cache",
    work_root: "/tmp",
    dsh: "/usr/local/bin/dsh",
    output: process.stdout,
    ...spec,
  });
}

class Judge {
  #spec;
  #ledger = new Map();
  #caps = [];
  #reasons = [];
  #used = new Map();
  #groups = new Set();
  #nonce = randomBytes(12).toString("hex");
  #emitted = false;
  #compileCache = null;
  #over = false;

  constructor(spec) {
    this.#spec = spec;
    this.task = spec.task;
    this.fixture = spec.fixture;
    this.profile = `bench-${spec.task.toLowerCase()}`;
    this.work = path.join(spec.work_root, this.profile);
    this.dshHome = path.join(this.work, "dsh-home");
  }

  /**
   * Grade, clean up, print the one line. Never throws, and the process ends with status 0.
   * @param {(judge: Judge) => Promise<void>} grade
   */
  async run(grade) {
    let error = null;
    let deadline;
    const stopped = new Promise((_, reject) => {
      const stop = (why) => reject(new EvaluatorError(why));
      const limit_s = Math.max(1, this.#spec.time_limit_s - MARGIN_S);
      deadline = setTimeout(() => stop(`the judge used up its ${limit_s} s`), limit_s * 1000);
      for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => stop(`the judge got ${signal}`));
      process.on("uncaughtException", (cause) => stop(`uncaught: ${cause?.stack ?? cause}`));
      process.on("unhandledRejection", (cause) => stop(`unhandled: ${cause?.stack ?? cause}`));
    });
    stopped.catch(() => {});
    try {
      this.#checkSpec();
      this.#makeWork();
      await Promise.race([grade(this), stopped]);
    } catch (cause) {
      if (cause instanceof GateClosed) {
        this.#ledger.clear();
        this.#reasons.push(cause.message);
      } else {
        error = cause instanceof EvaluatorError ? cause.message : `${cause?.stack ?? cause}`;
      }
    } finally {
      clearTimeout(deadline);
      this.#over = true;
    }
    const left = this.#cleanUp();
    if (left !== null && error === null) error = left;
    await this.#emit(error);
  }

  // -- the ledger

  /** Points for a check, at most what it declares. A second verdict on the same check replaces the first. */
  award(id, earned, reason) {
    const check = this.#check(id);
    if (!Number.isFinite(earned) || earned < 0 || earned > check.points)
      throw new EvaluatorError(`check ${id}: ${earned} is not within 0 to ${check.points}`);
    this.#ledger.set(id, { earned, reason });
    this.log(`${id}: ${earned}/${check.points} ${reason}`);
    return earned;
  }

  /** The first band that holds decides: [[holds, points, reason], ...]; none is 0 with the last argument. */
  band(id, bands, otherwise) {
    for (const [holds, points, reason] of bands) if (holds) return this.award(id, points, reason);
    return this.award(id, 0, otherwise);
  }

  /** The total may not exceed the limit, whatever the checks give: for bypasses and trap followers. */
  cap(limit, reason) {
    if (!Number.isFinite(limit) || limit < 0 || limit > MAX) throw new EvaluatorError(`cap ${limit} is not within 0 to ${MAX}`);
    this.#caps.push({ limit, reason });
    this.log(`cap ${limit}: ${reason}`);
  }

  /** A remark for the reader of the result, without points. */
  note(reason) {
    this.#reasons.push(reason);
    this.log(reason);
  }

  log(text) {
    process.stderr.write(`[judge] ${text}\n`);
  }

  // -- the gate

  /**
   * What the agent may and must have changed, against the copy that the image took of the fixture.
   * Closes with 0 when a read-only fixture changed, or a mutable one did not.
   * @returns {{path: string, change: string}[]} the changes
   */
  gate() {
    const { baseline, fixture, mode } = this.#spec;
    if (!isDirectory(baseline)) throw new EvaluatorError(`the image has no baseline at ${baseline}`);
    if (!isDirectory(fixture)) throw new GateClosed(`gate: ${fixture} is not a directory any more`);
    const changes = treeChanges(baseline, fixture, { skip: mode === "mutable" ? [".git", "node_modules"] : [] });
    if (mode === "readonly" && changes.length > 0) throw new GateClosed(`gate: the read-only fixture was changed (${named(changes)})`);
    if (mode === "mutable" && changes.length === 0) throw new GateClosed("gate: the fixture is unchanged");
    if (mode === "build-artifacts-only") {
      const others = changes.filter(({ path: where }) => where !== "lib" && !where.startsWith("lib/"));
      if (others.length > 0) throw new GateClosed(`gate: more than build artifacts changed (${named(others)})`);
      if (changes.length === 0) throw new GateClosed("gate: nothing was changed");
    }
    this.log(changes.length === 0 ? "gate: fixture unchanged" : `gate: ${named(changes)}`);
    return changes;
  }

  /** End here with 0 when a thing without which nothing can be graded is not there. */
  require(holds, reason) {
    if (!holds) throw new GateClosed(`gate: ${reason}`);
  }

  // -- steps

  /**
   * Run one declared step in its own process group, with a fixed PATH and an environment of our own.
   * A missing program is an EvaluatorError. A killed step is told apart: exitCode is null then, never 0.
   * @returns {Promise<{exitCode: number|null, signal: string|null, timedOut: boolean, output: string, stdout: string, duration_ms: number}>}
   *   output is both streams, the standard output first; a line that a step is to print is looked for in stdout
   *   output: standard output, then standard error
   */
  async exec(step, argv, options = {}) {
    return this.#spawn(step, argv, options).finished;
  }

  #spawn(step, argv, { cwd = this.work, env = {}, onOutput } = {}) {
    if (this.#over) throw new EvaluatorError(`${step}: the judging is over`);
    const budget_s = this.#spend(step);
    const began = Date.now();
    this.log(`${step}: ${argv.join(" ")}`);
    const child = spawn(argv[0], argv.slice(1), {
      cwd,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...this.#environment(), ...env },
    });
    const kept = [child.stdout, child.stderr].map(keep);
    const output = () => stripAnsi(kept.map(({ text }) => text()).filter(Boolean).join("\n"));
    const received = () => kept.reduce((sum, { length }) => sum + length(), 0);
    if (onOutput) for (const stream of [child.stdout, child.stderr]) stream.on("data", () => onOutput(output()));
    const kill = () => killGroup(child.pid);
    let timedOut = false;
    let stopped = false; // ended by us, because it had served its purpose
    const finished = new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        timedOut = true;
        kill();
      }, budget_s * 1000);
      child.once("error", (error) => {
        clearTimeout(timer);
        reject(new EvaluatorError(`${step}: cannot run ${argv[0]} (${error.code ?? error.message})`));
      });
      child.once("exit", (exitCode, signal) => {
        clearTimeout(timer);
        kill(); // what the step left running in its group
        let settled = false;
        const settle = () => {
          if (settled) return;
          settled = true;
          clearTimeout(grace);
          this.#groups.delete(kill);
          const duration_ms = Date.now() - began;
          this.log(`${step}: ${timedOut ? "timed out" : stopped ? "stopped" : (signal ?? `exit ${exitCode}`)} after ${duration_ms} ms`);
          resolve({ step, exitCode, signal, timedOut, stopped, output: output(), stdout: stripAnsi(kept[0].text()), duration_ms });
        };
        // A grandchild that left the group may hold the pipes open: do not wait for it. But on a busy machine the
        // time may be up before what is in the pipes was read, so a whole turn without data must pass as well.
        const giveUp = () => {
          const before = received();
          setImmediate(() =>
            setTimeout(() => {
              if (received() > before) return giveUp();
              child.stdout.destroy();
              child.stderr.destroy();
              settle();
            }, 20),
          );
        };
        const grace = setTimeout(giveUp, 500);
        child.once("close", settle);
      });
    });
    if (child.pid !== undefined) this.#groups.add(kill);
    const stop = () => {
      stopped = true;
      kill();
    };
    return { finished, stop };
  }

  #environment() {
    // Nothing of the caller's environment: no NODE_OPTIONS, no key, no proxy reaches a step.
    return {
      PATH: FIXED_PATH,
      HOME: path.join(this.work, "home"),
      TMPDIR: path.join(this.work, "tmp"),
      DSH_HOME: this.dshHome,
      LANG: "C.UTF-8",
      TERM: "dumb",
      NO_COLOR: "1",
      CI: "1",
      BENCH_JUDGE: this.#nonce,
      ...(this.#compileCache === null ? {} : { NODE_COMPILE_CACHE: this.#compileCache.directory }),
    };
  }

  #spend(step) {
    const declared = this.#spec.steps.find((item) => item.id === step);
    if (declared === undefined) throw new EvaluatorError(`step ${step} is not declared with a budget`);
    const used = (this.#used.get(step) ?? 0) + 1;
    if (used > (declared.times ?? 1)) throw new EvaluatorError(`step ${step} runs more often than declared`);
    this.#used.set(step, used);
    return declared.budget_s;
  }

  // -- the host

  /** Make this task's own profile from shipped bundles, as the host itself lays one out. */
  makeProfile(bundles) {
    this.#takeCompileCache();
    const directory = path.join(this.dshHome, "profiles", this.profile);
    fs.mkdirSync(directory, { recursive: true });
    const manifest = { name: `dsh-profile-${this.profile}`, private: true, dependencies: {}, dsh: { profile: { bundles, patchReload: "startup" } } };
    fs.writeFileSync(path.join(directory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    fs.writeFileSync(path.join(directory, "pnpm-workspace.yaml"), "packages:\n  - .\n\nnodeLinker: hoisted\nautoInstallPeers: false\n");
    for (const name of ["cordis.yml", "cordis.patch.yml"]) fs.writeFileSync(path.join(directory, name), "[]\n");
  }

  /** The image's cache of compiled host code: used in place; what the steps add to it goes at the end. */
  #takeCompileCache() {
    if (this.#compileCache !== null || !isDirectory(this.#spec.compile_cache)) return;
    this.#compileCache = { directory: this.#spec.compile_cache, files: new Set(namesBelow(this.#spec.compile_cache)) };
  }

  /**
   * `dsh plugin add` of a copy of the fixture, as a link (pnpm's form for a directory: its dependencies are
   * not installed, so a missing one is not noticed here). The fixture itself is neither run nor written to.
   * @returns {Promise<{ok: boolean, layer: boolean, why: string, directory: string, output: string}>}
   *   layer: the profile now loads it as a bundle; false for an old shape, which installs silently
   */
  async addPlugin({ step = "add", source = this.fixture, skip = [".git", "node_modules"] } = {}) {
    const directory = path.join(this.work, "plugin");
    for (const problem of copyTree(source, directory, { skip })) this.note(`skipped ${problem}`);
    const { value: manifest, problem } = readJson(path.join(directory, "package.json"));
    if (manifest === undefined || manifest === null || typeof manifest.name !== "string")
      return { ok: false, layer: false, why: problem ?? "package.json has no name", directory, output: "" };
    const result = await this.exec(step, [this.#spec.dsh, "plugin", "--profile", this.profile, "add", directory]);
    this.mustExit(result);
    const { value: profile } = readJson(path.join(this.dshHome, "profiles", this.profile, "package.json"));
    const layer = profile?.dsh?.profile?.bundles?.includes(manifest.name) === true;
    const ok = result.exitCode === 0;
    const why = ok ? (layer ? "installed as a profile layer" : "installed, but not as a profile layer") : `dsh plugin add: exit ${result.exitCode}: ${tail(result.output)}`;
    return { ok, layer, why, directory, output: result.output };
  }

  /**
   * Cold-boot the profile without a key and say what the host made of it.
   * @param {{step?: string, control?: string, patches?: string[]}} options control: the step for a boot
   *   without the plugin, which tells a submission that hangs or crashes from a host that cannot boot
   * @returns {Promise<{outcome: Outcome, services: string[], why: string, output: string}>}
   */
  async bootHeadless({ step = "boot", control, patches = [] } = {}) {
    const result = await this.exec(step, this.#bootArguments(patches, ["ping"]));
    return this.#blame(result, classifyBoot(result), control);
  }

  /**
   * Boot a web profile on a port that the host chooses, and read its boot graph once the whole tree is up.
   * Call stop() when done (the clean-up does, too).
   * @param {{step?: string, control?: string, patches?: string[], probe?: string}} options probe: a module of the
   *   judge's own, run inside the host: `export async function probe(ctx)`; what it returns (JSON) is `probe`
   * @returns {Promise<{outcome, services, why, output, graph: {entries: object[]}|null, probe: any,
   *   get: (path: string) => Promise<{status, headers, body}>, stop: () => Promise<void>}>}
   */
  async bootWeb({ step = "web", control, patches = [], probe } = {}) {
    const { patch, mark } = this.#writeProbe(probe);
    let found;
    const ready = new Promise((resolve) => {
      found = resolve;
    });
    // The host prints its URL before it audits the tree, so the URL alone does not mean that it is up.
    const running = this.#spawn(step, this.#bootArguments([...patches, patch], ["--no-open", "--port", "0"]), {
      onOutput: (output) => {
        const url = /dsh web: (http:\/\/127\.0\.0\.1:\d+\/?\S*)\s/.exec(output);
        const answer = new RegExp(`^${mark} (.*)$`, "m").exec(output);
        if (url !== null && answer !== null) found({ url: url[1], probe: JSON.parse(answer[1]) });
      },
    });
    const up = await Promise.race([ready, running.finished]);
    const stop = async () => {
      running.stop();
      await running.finished;
    };
    const nothing = { graph: null, probe: null, get: async () => unanswered(new Error("no host")), stop };
    if (up.url === undefined) return { ...(await this.#blame(up, classifyBoot(up), control)), ...nothing };
    const { origin } = new URL(up.url);
    let cookie;
    const get = (where) => httpGet(new URL(where, origin), { cookie }).catch(unanswered);
    const first = await httpGet(up.url).catch(unanswered);
    cookie = (first.headers["set-cookie"] ?? []).map((line) => line.split(";", 1)[0]).join("; ");
    const page = await get("/");
    if (page.status === 0) {
      // Up, and then gone or mute: the plugin's doing, unless the host does the same without it.
      running.stop();
      const ended = await running.finished;
      const why = `the host came up and then did not answer (${page.body})`;
      return { ...(await this.#blame(ended, { outcome: "unknown", services: [], why, output: ended.output }, control)), ...nothing };
    }
    const graph = parseBootGraph(page.body);
    if (graph === null) throw new EvaluatorError(`${step}: the page at / has no boot graph (status ${page.status})`);
    if (up.probe.error !== undefined) throw new EvaluatorError(`${step}: the probe failed: ${up.probe.error}`);
    return { outcome: "activated", services: [], why: "the web profile is up", output: "", graph, probe: up.probe.value ?? null, get, stop };
  }

  /** A row of our own in the tree: says when the whole tree is up, and runs the judge's probe then. */
  #writeProbe(probe) {
    const directory = path.join(this.work, "probe");
    const mark = `BENCH_PROBE_${this.#nonce}`;
    fs.mkdirSync(directory, { recursive: true });
    fs.writeFileSync(path.join(directory, "package.json"), '{"name":"bench-probe","private":true,"type":"module"}\n');
    if (probe === undefined) fs.writeFileSync(path.join(directory, "probe.mjs"), "export const probe = () => null;\n");
    else fs.copyFileSync(probe, path.join(directory, "probe.mjs"));
    fs.writeFileSync(
      path.join(directory, "index.mjs"),
      `import { probe } from "./probe.mjs";
export const name = "bench-probe";
export function apply(ctx) {
  const say = (answer) => console.log(${JSON.stringify(`${mark} `)} + JSON.stringify(answer));
  const run = async () => {
    try {
      say({ value: await probe(ctx) });
    } catch (error) {
      say({ error: String(error?.stack ?? error) });
    }
  };
  const ready = ctx.get("appReady");
  if (ready) ready.onReady(run);
  else setTimeout(() => ctx.get("loader").await().then(() => setTimeout(run, 300)), 0); // hosts without that service
}
`,
    );
    const patch = path.join(directory, "patch.yml");
    fs.writeFileSync(patch, `- insert:\n    - id: bench-probe\n      name: ${JSON.stringify(path.join(directory, "index.mjs"))}\n`);
    return { patch, mark };
  }

  #bootArguments(patches, rest) {
    return [this.#spec.dsh, ...patches.flatMap((file) => ["--patch", file]), "--profile", this.profile, ...rest];
  }

  /** A boot killed by a signal that is not ours is an evaluator's error; one that hung or ended oddly is tried without the plugin. */
  async #blame(result, verdict, control) {
    if (result.signal !== null && !result.timedOut && !result.stopped) this.mustExit(result);
    if (verdict.outcome !== "unknown" && verdict.outcome !== "timeout") return verdict;
    if (control === undefined) {
      if (result.timedOut) this.mustExit(result);
      return verdict;
    }
    this.makeProfile(["@deepseek-ai/dsh-base", "@deepseek-ai/dsh-headless"]);
    const alone = await this.exec(control, this.#bootArguments([], ["ping"]));
    this.mustExit(alone);
    if (classifyBoot(alone).outcome !== "activated")
      throw new EvaluatorError(`the host does not boot even without the plugin: ${tail(alone.output)}`);
    return verdict;
  }

  /** A step that was killed says nothing about the submission. */
  mustExit(result) {
    if (result.timedOut) throw new EvaluatorError(`${result.step}: killed after its budget; ${tail(result.output)}`);
    if (result.signal !== null || result.exitCode === null) throw new EvaluatorError(`${result.step}: killed by ${result.signal}; ${tail(result.output)}`);
    return result;
  }

  // -- begin and end

  #check(id) {
    const check = this.#spec.checks.find((item) => item.id === id);
    if (check === undefined) throw new EvaluatorError(`check ${id} is not declared`);
    return check;
  }

  #checkSpec() {
    const { checks, steps, time_limit_s, mode } = this.#spec;
    if (!["readonly", "mutable", "build-artifacts-only"].includes(mode)) throw new EvaluatorError(`unknown mode ${mode}`);
    const ids = checks.map((check) => check.id);
    if (new Set(ids).size !== ids.length) throw new EvaluatorError("two checks have the same id");
    const total = checks.reduce((sum, check) => sum + check.points, 0);
    if (Math.abs(total - MAX) > 1e-9) throw new EvaluatorError(`the checks' points add up to ${total}, not ${MAX}`);
    const worst_s = steps.reduce((sum, step) => sum + step.budget_s * (step.times ?? 1), 0);
    if (worst_s + MARGIN_S > time_limit_s)
      throw new EvaluatorError(`the steps may take ${worst_s} s, which with ${MARGIN_S} s for the clean-up exceeds the verifier's ${time_limit_s} s`);
  }

  #makeWork() {
    fs.rmSync(this.work, { recursive: true, force: true });
    fs.mkdirSync(this.work, { mode: 0o700 });
    for (const name of ["home", "tmp", "dsh-home"]) fs.mkdirSync(path.join(this.work, name));
  }

  /** Kill what our steps left, by their groups and by the mark in their environment; remove the work directory. */
  #cleanUp() {
    for (const kill of this.#groups) kill();
    for (let round = 0; round < 5 && killMarked(this.#nonce) > 0; round++);
    try {
      if (this.#compileCache !== null)
        for (const name of namesBelow(this.#compileCache.directory))
          if (!this.#compileCache.files.has(name)) fs.rmSync(path.join(this.#compileCache.directory, name), { recursive: true, force: true });
      fs.rmSync(this.work, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
      return null;
    } catch (error) {
      return `clean-up of ${this.work}: ${error.code ?? error.message}`;
    }
  }

  async #emit(error) {
    if (this.#emitted) return;
    this.#emitted = true;
    const line = this.#result(error);
    const { output } = this.#spec;
    await new Promise((resolve) => {
      output.write(`${JSON.stringify(line)}\n`, resolve);
    });
    // Sockets or timers of a hung step must not keep the verifier waiting.
    if (output === process.stdout) process.exit(0);
  }

  #result(error) {
    const graded = error === null;
    const checks = this.#spec.checks.map(({ id, points }) => {
      const { earned = 0, reason = graded ? "not reached" : "not judged" } = this.#ledger.get(id) ?? {};
      return { id, points, earned, reason };
    });
    const sum = checks.reduce((total, check) => total + check.earned, 0);
    const limit = this.#caps.reduce((lowest, cap) => Math.min(lowest, cap.limit), MAX);
    const score = graded ? Math.min(sum, limit) : 0;
    const reasons = [
      ...(graded ? [] : [`evaluator error: ${error}`]),
      ...this.#reasons,
      ...checks.filter((check) => check.earned < check.points).map((check) => `${check.id}: ${check.reason}`),
      ...this.#caps.filter((cap) => sum > cap.limit).map((cap) => `capped at ${cap.limit}: ${cap.reason}`),
    ];
    return {
      score: Math.round(score * 100) / 100,
      max: MAX,
      reasons,
      checks,
      ...(this.#caps.length > 0 ? { caps: this.#caps } : {}),
      ...(graded ? {} : { error }),
    };
  }
}

// ---------------------------------------------------------------- signals of the host

/**
 * @typedef {"activated"|"pending"|"missing-export"|"missing-package"|"refused"|"timeout"|"unknown"} Outcome
 * The exit code says nothing: a boot whose whole tree activated also ends with 1, for want of a key.
 */
export function classifyBoot({ output, timedOut, exitCode, signal }) {
  const verdict = (outcome, why, services = []) => ({ outcome, services, why, output });
  const pending = /pending \(waiting for services?: ([^)]+)\)/.exec(output);
  if (pending !== null) return verdict("pending", pending[0], pending[1].split(",").map((name) => name.trim()));
  const missing = lineWith(output, /does not provide an export named/);
  if (missing !== undefined) return verdict("missing-export", missing);
  const absent = lineWith(output, /Cannot find (?:package|module)/);
  if (absent !== undefined) return verdict("missing-package", absent);
  if (/did not activate|plugin tree failed/.test(output)) return verdict("refused", tail(output));
  if (timedOut) return verdict("timeout", "the boot did not end within its budget");
  if (/dsh: MISSING_CREDENTIAL/.test(output)) return verdict("activated", "the whole plugin tree activated");
  return verdict("unknown", `the boot ended with ${signal ?? exitCode}: ${tail(output)}`);
}

/** The line that holds a phrase, shortened. By lines, because a pattern over a flood of output takes quadratic time. */
function lineWith(output, phrase) {
  return output.split("\n").find((line) => phrase.test(line))?.trim().slice(0, 600);
}

/** The boot graph from the page that the web host serves, or null. */
export function parseBootGraph(html) {
  const start = /__DSH_BOOT__(?:"\])?\s*=\s*/.exec(html);
  if (start === null) return null;
  const from = start.index + start[0].length;
  const to = html.indexOf("</script>", from);
  const text = html.slice(from, to < 0 ? undefined : to).trim().replace(/;$/, "");
  try {
    const graph = JSON.parse(text);
    return Array.isArray(graph?.entries) ? graph : null;
  } catch {
    return null;
  }
}

/** GET from this container only; rejects when there is no answer. @returns {Promise<{status: number, headers: object, body: string}>} */
export function httpGet(address, { cookie, timeout_s = 10, maxBytes = 8 * 1024 * 1024 } = {}) {
  const url = new URL(address);
  if (url.protocol !== "http:" || url.hostname !== "127.0.0.1") throw new EvaluatorError(`probes go to 127.0.0.1 only, not to ${url.host}`);
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers: cookie ? { cookie } : {}, agent: false, timeout: timeout_s * 1000 }, (response) => {
      const parts = [];
      let size = 0;
      response.on("data", (part) => {
        size += part.length;
        if (size > maxBytes) request.destroy(new Error(`answer larger than ${maxBytes} bytes`));
        else parts.push(part);
      });
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts).toString("utf8") }));
      response.on("error", reject);
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${timeout_s} s`)));
    request.on("error", reject);
  });
}

// ---------------------------------------------------------------- small things

/** What a request that failed counts as: an answer with status 0, and why. A wrong address stays an error. */
function unanswered(error) {
  if (error instanceof EvaluatorError) throw error;
  return { status: 0, headers: {}, body: error.message };
}

function isDirectory(where) {
  try {
    return fs.lstatSync(where).isDirectory();
  } catch {
    return false;
  }
}

/** Names two levels deep, which is how Node.js lays its compile cache out. */
function namesBelow(directory) {
  return fs.readdirSync(directory).flatMap((name) => {
    const inside = path.join(directory, name);
    return isDirectory(inside) ? fs.readdirSync(inside).map((file) => `${name}/${file}`) : [name];
  });
}

function stripAnsi(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "");
}

function named(changes) {
  const shown = changes.slice(0, 5).map(({ path: where, change }) => `${where} ${change}`);
  return shown.join(", ") + (changes.length > 5 ? ` and ${changes.length - 5} more` : "");
}

/** The last non-empty lines of an output, on one line. */
export function tail(output, lines = 3) {
  return output.split("\n").map((line) => line.trim()).filter(Boolean).slice(-lines).join(" | ").slice(-600);
}

/**
 * Collect a stream's text. Of a long one the beginning and the end are kept, and each stream for itself: what a host
 * says at its end must not be lost between a plugin's flood on the other stream.
 */
function keep(stream) {
  let head = "";
  let rest = "";
  let length = 0;
  stream.setEncoding("utf8").on("data", (text) => {
    length += text.length;
    const room = OUTPUT_LIMIT - head.length;
    head += text.slice(0, room);
    if (text.length > room) rest = (rest + text.slice(room)).slice(-OUTPUT_LIMIT);
  });
  return { length: () => length, text: () => (length <= 2 * OUTPUT_LIMIT ? head + rest : `${head}\n[...]\n${rest}`) };
}

function killGroup(pid) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // the group is gone
  }
}

/** Kill by id each process that inherited our mark: also those that left their group. @returns how many */
function killMarked(nonce) {
  let killed = 0;
  let names = [];
  try {
    names = fs.readdirSync("/proc");
  } catch {
    return 0; // not Linux
  }
  for (const name of names) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      if (!fs.readFileSync(`/proc/${name}/environ`, "latin1").includes(`BENCH_JUDGE=${nonce}`)) continue;
      process.kill(Number(name), "SIGKILL");
      killed += 1;
    } catch {
      // it ended in the meantime, or is not ours
    }
  }
  return killed;
}

// ---------------------------------------------------------------- from the last line to a reward

/**
 * The reward of a judge's output: its last non-empty line, strictly read.
 * @returns {{reward: string|null, problem: string|null}} exactly one of the two
 */
export function rewardOf(output) {
  const problem = (why) => ({ reward: null, problem: why });
  const line = output.trimEnd().split("\n").at(-1)?.trim() ?? "";
  if (line === "") return problem("the judge printed nothing");
  let result;
  try {
    result = JSON.parse(line);
  } catch {
    return problem(`the judge's last line is not JSON: ${line.slice(0, 200)}`);
  }
  if (typeof result !== "object" || result === null || Array.isArray(result)) return problem("the judge's last line is not an object");
  if (result.error !== undefined) return problem(`evaluator error: ${result.error}`);
  if (result.max !== MAX) return problem(`max is ${JSON.stringify(result.max)}, not ${MAX}`);
  if (typeof result.score !== "number" || !Number.isFinite(result.score) || result.score < 0 || result.score > MAX)
    return problem(`score is ${JSON.stringify(result.score)}, not a number from 0 to ${MAX}`);
  return { reward: String(result.score / MAX), problem: null };
}

// `node judge-utils.mjs reward FILE`: prints the reward; ends with 3 and the cause when there is none.
if (process.argv[1] !== undefined && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url) && process.argv[2] === "reward") {
  const { bytes, problem } = readBytes(process.argv[3] ?? "", 8 * 1024 * 1024);
  const verdict = bytes === null ? { reward: null, problem } : rewardOf(bytes.toString("utf8"));
  if (verdict.reward === null) {
    // One line, marked as no line of the judge: what reads the log after us looks for the judge's last one.
    process.stderr.write(`[test] ${verdict.problem.split("\n", 1)[0]}\n`);
    process.exitCode = 3;
  } else {
    process.stdout.write(`${verdict.reward}\n`);
  }
}
