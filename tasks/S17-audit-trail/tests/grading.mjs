// What a report is worth under a task's own rubric: all that the ground truth asks is 100.
// Plain Node.js (>= 20), no dependencies. Reference: docs/scoring.md of the workbench, which grades alike in Python.
//
// One passage of the report proves one finding. A passage is a paragraph, a table row, a list item, an item with all
// that is indented below it, or a section of moderate length with its heading. Words scattered over the report prove
// nothing, nor do passages copied from the task's instruction or bare identifiers of cards. Wording, order, severity,
// negation and language do not count: "do not keep X" names X as well as "replace X" does.
import { isHeading, lackOf, normalizeForMatch, readTruth, TruthError } from "./findings.mjs";

export const VERSION = "1.0.0";

const MAX = 100;
/** Longest section, in characters, that counts as one passage. */
const SECTION_LIMIT = 4000;
/** Fewest words (a Chinese character counts as one) besides identifiers that make a passage say something. */
const FEWEST_WORDS = 3;
const ITEM = /^(?:[-*+\u2022]|[0-9]+[.)]|[a-z][.)])(?=\s)/;
const CARD_ID = /[A-Za-z]{1,8}(?:-[A-Za-z0-9.]*[0-9][A-Za-z0-9.]*)+/g;
const WORD = /\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{N}_]){2,}/gu;

/**
 * The rubric of a ground truth: its `rubric` field, or equal points for every finding.
 * @returns {{points: Map<string, number>, caps: {without: string, limit: number, reason: string}[]}} points add up to 100
 */
export function rubricOf(truth) {
  const { findings } = readTruth(truth);
  const { points = {}, caps = [] } = truth.rubric ?? {};
  const ids = findings.map(({ id }) => id);
  if (ids.length === 0) throw new TruthError("a ground truth without findings cannot be graded");
  const given = Object.keys(points);
  for (const id of given) {
    if (!ids.includes(id)) throw new TruthError(`rubric.points names ${id}, which is no finding`);
    if (!(Number.isFinite(points[id]) && points[id] > 0)) throw new TruthError(`rubric.points.${id} must be a positive number`);
  }
  if (given.length > 0 && given.length < ids.length) throw new TruthError("rubric.points must name every finding, or none");
  for (const { without, limit } of caps) {
    if (!ids.includes(without)) throw new TruthError(`rubric.caps names ${without}, which is no finding`);
    if (!(Number.isFinite(limit) && limit >= 0 && limit <= MAX)) throw new TruthError(`the cap without ${without} must be 0 to ${MAX}`);
  }
  const worth = ids.map((id) => points[id] ?? 1);
  const total = worth.reduce((sum, one) => sum + one, 0);
  return {
    points: new Map(ids.map((id, at) => [id, (worth[at] * MAX) / total])),
    caps: caps.map(({ without, limit, reason = `${without} is not found` }) => ({ without, limit, reason })),
  };
}

/**
 * Grade a report.
 * @param {string} report Markdown
 * @param {object} truth as parsed from JSON
 * @param {{prompt?: string}} options the task's instruction, whose copied passages prove nothing
 * @returns {{score: number, max: 100, reasons: string[], checks: {id, points, earned, reason}[],
 *   caps: {limit, reason}[]}} `caps` are those that apply
 */
export function grade(report, truth, { prompt = "" } = {}) {
  const { points, caps } = rubricOf(truth);
  const { findings } = readTruth(truth);
  const { passages, copied, bare } = passagesOf(report, prompt);
  const rows = passages.map(lackOf(findings));
  const proof = assign(rows, findings.length);
  const checks = findings.map((finding, order) => {
    const worth = points.get(finding.id);
    const at = proof[order];
    if (at !== null) return { id: finding.id, points: worth, earned: worth, reason: `found: "${shortened(passages[at])}"` };
    return { id: finding.id, points: worth, earned: 0, reason: nearest(rows, passages, finding, order) };
  });
  const missed = new Set(checks.filter(({ earned }) => earned === 0).map(({ id }) => id));
  const applied = caps.filter(({ without }) => missed.has(without)).map(({ limit, reason }) => ({ limit, reason }));
  const reasons = [];
  if (copied > 0) reasons.push(`${copied} passage(s) copied from the instruction prove nothing`);
  if (bare > 0) reasons.push(`${bare} passage(s) of identifiers alone prove nothing`);
  const sum = checks.reduce((total, { earned }) => total + earned, 0);
  const score = applied.reduce((lowest, { limit }) => Math.min(lowest, limit), sum);
  return { score: Math.round(score * 100) / 100, max: MAX, reasons, checks, caps: applied };
}

/** A report that cannot be one: bytes that are no text. */
export function isBinary(text) {
  return text.includes("\0");
}

// ---------------------------------------------------------------- passages

/** The passages of a report that may prove something, and how many blocks were set aside. */
export function passagesOf(report, prompt) {
  const given = normalizeForMatch(prompt);
  let copied = 0;
  let bare = 0;
  const kept = blocksOf(report).filter(({ text }) => {
    const normal = normalizeForMatch(text);
    if (normal !== "" && given.includes(normal)) copied += 1;
    else if (!saysSomething(text)) bare += 1;
    else return true;
    return false;
  });
  return { passages: [...kept.map(({ text }) => text), ...withIndented(kept), ...sections(kept)], copied, bare };
}

function saysSomething(text) {
  return (text.replace(CARD_ID, " ").match(WORD) ?? []).length >= FEWEST_WORDS;
}

/** Paragraphs, table rows and list items, each with its indent and the heading above it. */
function blocksOf(report) {
  const blocks = [];
  let heading = { text: "" };
  let open = null;
  const begin = (text, indent) => {
    open = { parts: [text], indent, heading };
    blocks.push(open);
  };
  for (const line of report.split(/\r?\n/)) {
    const text = line.trim();
    if (text === "") {
      open = null;
      continue;
    }
    if ("#*".includes(text[0]) && isHeading(text)) {
      heading = { text };
      open = null;
      continue;
    }
    const indent = line.length - line.trimStart().length;
    const marker = ITEM.exec(text);
    if (marker !== null) begin(text.slice(marker[0].length).trimStart(), indent);
    else if (text[0] === "|") {
      begin(text, indent);
      open = null;
    } else if (open === null) begin(text, indent);
    else open.parts.push(text);
  }
  return blocks.map(({ parts, ...rest }) => ({ ...rest, text: parts.join(" ") }));
}

/** Each outermost block that has blocks indented below it, as one text with them. */
function withIndented(blocks) {
  const texts = [];
  for (let at = 0; at < blocks.length; ) {
    let end = at + 1;
    while (end < blocks.length && blocks[end].heading === blocks[at].heading && blocks[end].indent > blocks[at].indent) end += 1;
    if (end > at + 1) texts.push(joined(blocks.slice(at, end)));
    at = end;
  }
  return texts;
}

/** Each section of moderate length that has a heading, as one text with it. */
function sections(blocks) {
  const texts = [];
  for (let at = 0; at < blocks.length; ) {
    const { heading } = blocks[at];
    let end = at + 1;
    while (end < blocks.length && blocks[end].heading === heading) end += 1;
    const text = `${heading.text} ${joined(blocks.slice(at, end))}`;
    if (heading.text !== "" && [...text].length <= SECTION_LIMIT) texts.push(text);
    at = end;
  }
  return texts;
}

const joined = (blocks) => blocks.map(({ text }) => text).join(" ");

// ---------------------------------------------------------------- one passage, one finding

/** For each finding the passage that proves it, or null; as many findings are proved as can be. */
function assign(rows, count) {
  const holder = new Map();
  const proof = new Array(count).fill(null);
  const fits = Array.from({ length: count }, (_, order) => {
    // More candidates than findings are never needed: some of them stays free.
    const fitting = [];
    for (let at = 0; at < rows.length && fitting.length < count; at += 1) if (rows[at][order] <= 0) fitting.push(at);
    return fitting;
  });
  const place = (order, tried) => {
    for (const at of fits[order]) {
      if (tried.has(at)) continue;
      tried.add(at);
      const other = holder.get(at);
      if (other === undefined || place(other, tried)) {
        holder.set(at, order);
        proof[order] = at;
        return true;
      }
    }
    return false;
  };
  for (let order = 0; order < count; order += 1) place(order, new Set());
  return proof;
}

function nearest(rows, passages, finding, order) {
  const needed = Math.min(...finding.lists.map(({ required }) => required));
  let best = -1;
  for (let at = 0; at < rows.length; at += 1) if (best < 0 || rows[at][order] < rows[best][order]) best = at;
  if (best < 0 || rows[best][order] >= needed) return "not found";
  if (rows[best][order] <= 0) return `not found: the passage that names it proves another finding ("${shortened(passages[best])}")`;
  return `not found: ${rows[best][order]} more of its keywords are needed in "${shortened(passages[best])}"`;
}

function shortened(text) {
  const characters = [...text.slice(0, 200)];
  return characters.length > 80 ? `${characters.slice(0, 79).join("")}…` : characters.join("");
}
