// Which findings of a ground truth a report names: parsed, matched and scored as the findings benchmark does it.
// Plain Node.js (>= 20), no dependencies; copied into each task so that the task stands alone.
// Reference: docs/scoring.md of the workbench, whose `harbor_author.scoring` does the same in Python.
// Every function takes time that grows with the length of the report, whatever the report holds.
import fs from "node:fs";

export const VERSION = "1.0.0";

const SEVERITIES = ["CRITICAL", "MAJOR", "MINOR"];
const CATEGORIES = ["finding", "missing", "perspective"];
const PERSPECTIVES = ["security", "new-hire", "ops"];
const DOMAINS = ["plan", "code", "analysis", "bug", "task"];

/** A ground truth or rubric that cannot be used. Never a statement about the report. */
export class TruthError extends Error {
  name = "TruthError";
}

// ---------------------------------------------------------------- ground truth

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isFilled = (value) => typeof value === "string" && value.length > 0;
const isText = (value) => typeof value === "string";

/**
 * Check a ground truth, first failure first. `keywords` is a list, or lists by language ({en: [...], zh: [...]}).
 * @returns {{findings: object[]}} the findings ready for matching
 */
export function readTruth(truth) {
  const wrong = (why) => new TruthError(why);
  if (!isObject(truth)) throw wrong("Ground truth must be an object");
  if (!isFilled(truth.fixtureId)) throw wrong("Ground truth fixtureId is required");
  if (!isFilled(truth.fixturePath)) throw wrong("Ground truth fixturePath is required");
  if (!DOMAINS.includes(truth.domain)) throw wrong(`Unsupported ground truth domain: ${String(truth.domain)}`);
  if (!Array.isArray(truth.findings)) throw wrong("Ground truth findings must be an array");
  if (typeof truth.isCleanBaseline !== "boolean") throw wrong("Ground truth isCleanBaseline must be boolean");
  truth.findings.forEach((finding, index) => {
    const fault = faultOf(finding);
    if (fault !== null) throw wrong(`Ground truth finding ${index} ${fault}`);
  });
  const seen = new Set();
  for (const { id } of truth.findings) {
    if (seen.has(id)) throw wrong(`Duplicate ground truth finding id: ${id}`);
    seen.add(id);
  }
  return { findings: truth.findings.map(prepared) };
}

function faultOf(finding) {
  if (!isObject(finding)) return "must be an object";
  if (!isFilled(finding.id)) return "has no id";
  const lists = keywordLists(finding.keywords);
  if (lists === null) return "has invalid keywords";
  if (lists.some((list) => list.length === 0)) return "must have at least one keyword";
  if (!SEVERITIES.includes(finding.severity)) return "has invalid severity";
  if (!CATEGORIES.includes(finding.category)) return "has invalid category";
  if (finding.perspective !== undefined && !PERSPECTIVES.includes(finding.perspective)) return "has invalid perspective";
  if (!isText(finding.summary) || !isText(finding.explanation)) return "has invalid text fields";
  if (finding.location !== undefined && !isText(finding.location)) return "has invalid location";
  return null;
}

function keywordLists(value) {
  let lists = null;
  if (Array.isArray(value)) lists = [value];
  else if (isObject(value) && Object.keys(value).length > 0) lists = Object.values(value);
  return lists !== null && lists.every((list) => Array.isArray(list) && list.every(isText)) ? lists : null;
}

/** The critics' benchmark validates nothing; neither do we when it is its behaviour that is asked for. */
function trustTruth(truth) {
  if (!isObject(truth)) throw new TruthError("Ground truth must be an object");
  if (!Array.isArray(truth.findings)) throw new TruthError("Ground truth findings must be an array");
  truth.findings.forEach((finding, index) => {
    if (!isObject(finding)) throw new TruthError(`Ground truth finding ${index} must be an object`);
    if (!isText(finding.id)) throw new TruthError(`Ground truth finding ${index} has no id`);
    if (keywordLists(finding.keywords) === null) throw new TruthError(`Ground truth finding ${index} has invalid keywords`);
    if (!SEVERITIES.includes(finding.severity)) throw new TruthError(`Ground truth finding ${index} has invalid severity`);
  });
  return { findings: truth.findings.map(prepared) };
}

function prepared({ id, severity, category = "finding", keywords }) {
  const lists = keywordLists(keywords).map((words) => ({
    keywords: words.map(prepareKeyword),
    required: requiredKeywordMatches(words.length),
  }));
  return { id, severity, category, lists };
}

// ---------------------------------------------------------------- text

/** How many of `count` keywords a text must hold: all of up to two, else two or four tenths, rounded up. */
export function requiredKeywordMatches(count) {
  return count === 0 ? 0 : Math.min(count, Math.max(2, Math.ceil(0.4 * count)));
}

/** The form in which keywords and reports are compared. */
export function normalizeForMatch(text) {
  return blanked(text.toLowerCase());
}

function blanked(lowered) {
  return nfkc(lowered).replace(/[`*_#()[\]{}<>"'.,;!?|\\\-/:\s]+/g, " ").trim();
}

// Canonical ordering takes quadratic time on a long run of combining marks, so such runs are put in order here.
const LONG_MARK_RUN = 64;
const LONG_MARKS = new RegExp(`[\\p{M}\\uff9e\\uff9f]{${LONG_MARK_RUN},}`, "gu");

function nfkc(text) {
  return text.length < LONG_MARK_RUN ? text.normalize("NFKC") : text.replace(LONG_MARKS, orderedMarks).normalize("NFKC");
}

function orderedMarks(run) {
  const marks = [...run].flatMap((mark) => [...mark.normalize("NFKD")]);
  // Two marks change places under normalisation only when the second one's class is lower than the first one's.
  const before = (a, b) => a !== b && `a${b}${a}`.normalize("NFD") === `a${a}${b}`;
  const classes = [];
  for (const mark of new Set(marks)) {
    let low = 0;
    let high = classes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (before(classes[middle][0], mark)) low = middle + 1;
      else high = middle;
    }
    if (low < classes.length && !before(mark, classes[low][0])) classes[low].push(mark);
    else classes.splice(low, 0, [mark]);
  }
  const rank = new Map(classes.flatMap((members, index) => members.map((mark) => [mark, index])));
  const buckets = classes.map(() => []);
  for (const mark of marks) buckets[rank.get(mark)].push(mark);
  return buckets.map((bucket) => bucket.join("")).join("");
}

function prepareKeyword(raw) {
  const lowered = raw.toLowerCase();
  const normal = blanked(lowered);
  return { raw, lowered, parts: normal === "" ? [] : normal.split(" ") };
}

// The whole normalised keyword occurs only where all of its parts do; so the parts alone decide.
function keywordOccurs(keyword, item) {
  if (keyword.parts.length > 0 && keyword.parts.every((part) => item.normal.includes(part))) return true;
  return item.lowered.includes(keyword.lowered);
}

export function keywordMatchesText(text, keyword) {
  return keywordOccurs(prepareKeyword(keyword), preparedItem(text));
}

function preparedItem(text) {
  const lowered = text.toLowerCase();
  return { lowered, normal: blanked(lowered) };
}

// `file.ext:12`, `call():12`, or a backticked snippet, written so that no text makes the search explode.
const EVIDENCE =
  /`[^`]+`|[A-Za-z0-9_][./-]*\.[A-Za-z0-9_+-]+:[0-9]+(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]*\(\):[0-9]+(?![A-Za-z0-9_])/;
const TERMINATORS = /[\n\r\u2028\u2029]/;

export const hasEvidence = (text) => EVIDENCE.test(text);
const linesOf = (text) => text.split(/\r?\n/);
const isItem = (text) => text !== "" && !/^none\.?$/i.test(text);
const skipWhite = (text, at) => {
  while (at < text.length && /\s/.test(text[at])) at += 1;
  return at;
};

// ---------------------------------------------------------------- headings

/** Whether a trimmed, non-empty line is a heading. */
export function isHeading(line) {
  if (line[0] === "#") return /^#{1,6}\s/.test(line);
  if (line[0] === "*") return isStarHeading(line);
  return line.endsWith(":") && /^[A-Za-z][A-Za-z0-9'() \-/]{2,}:$/.test(line);
}

function isStarHeading(line) {
  const inside = line[1] === "*" ? 2 : 1;
  const close = line.indexOf("*", inside);
  if (close <= inside) return false;
  let at = skipWhite(line, close + (line[close + 1] === "*" ? 2 : 1));
  if (line[at] === "(") {
    const end = line.indexOf(")", at);
    if (end < 0) return false;
    at = skipWhite(line, end + 1);
  }
  if (line[at] === ":") at = skipWhite(line, at + 1);
  return at === line.length;
}

function withoutMarks(line) {
  let text = line.trim();
  text = text.replace(/^#{1,6}\s*/, "").replace(/^\*{1,2}\s*/, "");
  let bare = text.trimEnd();
  if (bare.endsWith(":")) bare = bare.slice(0, -1).trimEnd();
  if (bare.endsWith("**")) return bare.slice(0, -2).trimEnd();
  if (bare.endsWith("*")) return bare.slice(0, -1).trimEnd();
  return text;
}

const headingText = (line) => withoutMarks(line).replace(/\s+/g, " ").trim().toLowerCase();
const plainHeadingText = (line) => withoutMarks(line).replace(/[\u2013\u2014]/g, "-").replace(/\s+/g, " ").trim().toLowerCase();

function isRule(trimmed) {
  return /^(?:---+|\*\*\*+)$/.test(trimmed);
}

// ---------------------------------------------------------------- the generic parser

const emptyReport = () => ({
  verdict: "",
  criticalFindings: [],
  majorFindings: [],
  minorFindings: [],
  missingItems: [],
  perspectiveNotes: { security: [], newHire: [], ops: [] },
  hasPreCommitment: false,
  hasGapAnalysis: false,
  hasMultiPerspective: false,
});

const BUCKETS = { CRITICAL: "criticalFindings", MAJOR: "majorFindings", MINOR: "minorFindings" };
const finding = (text, severity) => ({ text, severity, hasEvidence: hasEvidence(text) });

function severityOf(text) {
  const upper = text.toUpperCase();
  if (/\bCRITICAL\b/.test(upper)) return "CRITICAL";
  if (/\bMAJOR\b/.test(upper)) return "MAJOR";
  return /\bMINOR\b/.test(upper) ? "MINOR" : "MAJOR";
}

function sectionKind(heading) {
  if (/\bcritical\b/.test(heading)) return "CRITICAL";
  if (/\bmajor\b/.test(heading)) return "MAJOR";
  if (/\bminor\b/.test(heading)) return "MINOR";
  if (/\b(?:missing|gap)\b/.test(heading)) return "missing";
  return /\bfinding|issue|problem|bug|error|diagnos|root.?cause|fix|recommend/.test(heading) ? "any" : null;
}

function markedText(line) {
  const marker = /^(?:[-*\u2022]|[0-9]+[.)])(?=\s)/.exec(line);
  if (marker === null) return null;
  const text = line.slice(marker[0].length).trimStart();
  return text === "" || TERMINATORS.test(text) ? null : text;
}

function listItems(lines) {
  const items = [];
  let parts = null;
  const end = () => {
    if (parts !== null) {
      const text = parts.join(" ");
      if (isItem(text)) items.push(text);
    }
    parts = null;
  };
  for (const line of lines) {
    if (line === "") {
      end();
      continue;
    }
    const text = markedText(line);
    if (text !== null) {
      end();
      parts = [text];
    } else if (parts !== null) parts.push(line);
  }
  end();
  return items;
}

function parseGeneric(report) {
  const parsed = emptyReport();
  const lines = linesOf(report).map((line) => line.trim());
  const sortByOwnWords = (items) => {
    for (const item of items) {
      const severity = severityOf(item);
      parsed[BUCKETS[severity]].push(finding(item, severity));
    }
  };
  let severitySeen = false;
  const close = (kind, content) => {
    if (kind === null) return;
    const items = listItems(content);
    if (kind === "missing") for (const item of items) parsed.missingItems.push(item);
    else if (kind === "any") sortByOwnWords(items);
    else {
      severitySeen = true;
      for (const item of items) parsed[BUCKETS[kind]].push(finding(item, kind));
    }
  };
  let kind = null;
  let content = [];
  for (const line of lines) {
    if (line !== "" && isHeading(line)) {
      close(kind, content);
      kind = sectionKind(headingText(line));
      content = [];
    } else if (kind !== null) content.push(line);
  }
  close(kind, content);
  if (!severitySeen && Object.values(BUCKETS).every((bucket) => parsed[bucket].length === 0))
    sortByOwnWords(listItems(lines).filter((item) => item.length >= 15));
  const verdict = /(?:VERDICT|CLASSIFICATION|DIAGNOSIS|APPROACH)\s*:\s*([^\n*]+)/i.exec(report);
  parsed.verdict = verdict === null ? "" : verdict[1].trim();
  parsed.hasPreCommitment = /\bpre-?commitment\b/i.test(report);
  parsed.hasGapAnalysis = /\bwhat'?s?\s+missing\b/i.test(report) || /\bgap\s+analysis\b/i.test(report);
  parsed.hasMultiPerspective = /\bperspective\b/i.test(report) && /\bsecurity\b/i.test(report);
  return parsed;
}

// ---------------------------------------------------------------- the critics' parsers

const endsSection = (trimmed) =>
  trimmed !== "" && (isRule(trimmed) || (!/^\*{1,2}\s*[0-9]+[.)]\s/.test(trimmed) && isHeading(trimmed)));

const NUMBER = /^([ \t]*)(?:\*{1,2}\s*)?[0-9]+[.)](?:\*{1,2})?(?=\s)/;
const BULLET = /^([ \t]*)[-*\u2022](?=\s)/;
const SUBFIELD = /^(?:\*{1,2})?(?:evidence|why this matters|fix|impact|risk|mitigation|proof|location|example|note)\b/i;

/** {indent, text} of a list line; the text is empty when white space alone follows the marker. */
function criticMarked(marker, line) {
  const match = marker.exec(line);
  if (match === null) return null;
  const rest = line.slice(match[0].length);
  const text = rest.trimStart();
  if (text !== "") return TERMINATORS.test(text) ? null : { indent: match[1], text: text.trim() };
  return rest.length > 1 && !TERMINATORS.test(rest[rest.length - 1]) ? { indent: match[1], text: "" } : null;
}

function criticItems(lines, section) {
  const items = [];
  if (section < 0) return items;
  let parts = null;
  let numbered = false;
  const end = () => {
    if (parts !== null) {
      const text = parts.join(" ");
      if (isItem(text)) items.push(text);
    }
    parts = null;
  };
  for (let at = section + 1; at < lines.length && !endsSection(lines[at].trim()); at += 1) {
    const line = lines[at].replace(/\r/g, "");
    const trimmed = line.trim();
    if (trimmed === "" || isRule(trimmed)) {
      end();
      continue;
    }
    const number = criticMarked(NUMBER, line);
    if (number !== null) {
      end();
      if (number.text !== "") {
        parts = [number.text];
        numbered = true;
      }
      continue;
    }
    const bullet = criticMarked(BULLET, line);
    if (bullet === null) {
      if (parts !== null) parts.push(trimmed);
      continue;
    }
    if (bullet.text === "") continue;
    const width = bullet.indent.replace(/\t/g, "  ").length;
    if (parts !== null && (width >= 2 || numbered || SUBFIELD.test(bullet.text))) parts.push(bullet.text);
    else {
      end();
      parts = [bullet.text];
      numbered = false;
    }
  }
  end();
  return items;
}

function unique(texts) {
  const kept = new Map();
  for (const text of texts) {
    const trimmed = text.trim();
    const key = trimmed.toLowerCase();
    if (trimmed !== "" && !kept.has(key)) kept.set(key, trimmed);
  }
  return [...kept.values()];
}

function perspectiveNotes(lines, normal, start) {
  const notes = { security: [], newHire: [], ops: [] };
  for (let at = start; at < lines.length; at += 1) {
    const bullet = criticMarked(BULLET, lines[at].replace(/\r/g, ""));
    const label = bullet === null ? null : /^(security|new-?hire|ops)\s*:/i.exec(bullet.text);
    if (label === null) continue;
    const text = bullet.text.slice(label[0].length).trim();
    const name = label[1].toLowerCase();
    if (isItem(text)) notes[name.startsWith("new") ? "newHire" : name].push(text);
  }
  let current = null;
  let parts = null;
  const end = () => {
    if (parts !== null) {
      const text = parts.join(" ");
      if (isItem(text)) notes[current].push(text);
    }
    parts = null;
  };
  for (let at = start; at < lines.length; at += 1) {
    const trimmed = lines[at].trim();
    if (trimmed === "" || isRule(trimmed)) end();
    else if (endsSection(trimmed)) {
      end();
      current = perspectiveOf(normal[at]);
    } else if (current !== null) {
      const marker = /^(?:[-*\u2022]|(?:\*{1,2}\s*)?[0-9]+[.)](?:\*{1,2})?)(?=\s)/.exec(trimmed);
      const text = marker === null ? "" : trimmed.slice(marker[0].length).trimStart();
      if (text !== "" && !TERMINATORS.test(text)) {
        end();
        parts = [text];
      } else if (parts !== null) parts.push(trimmed);
      else parts = [trimmed];
    }
  }
  end();
  return { security: unique(notes.security), newHire: unique(notes.newHire), ops: unique(notes.ops) };
}

function perspectiveOf(heading) {
  if (/\bsecurity\b/.test(heading)) return "security";
  if (/\bnew[- ]?hire\b/.test(heading)) return "newHire";
  return /\bops\b/.test(heading) ? "ops" : null;
}

function isMultiPerspective(line) {
  const name = /\bmulti-?perspective\b/.exec(line);
  if (name === null) return false;
  if (/\b(?:notes?|review)\b/.test(line.slice(name.index + name[0].length))) return true;
  const phase = /\bphase ?[0-9]+\b/.exec(line);
  return phase !== null && /\bmulti-?perspective\b/.test(line.slice(phase.index + phase[0].length));
}

function parseHarshCritic(report) {
  const lines = linesOf(report);
  const normal = lines.map(plainHeadingText);
  const find = (pattern) => normal.findIndex((line) => pattern.test(line));
  const findings = (pattern, severity) => criticItems(lines, find(pattern)).map((text) => finding(text, severity));
  const missing = find(/\bwhat'?s? missing\b/);
  const perspectives = normal.findIndex(isMultiPerspective);
  const notes = perspectiveNotes(lines, normal, perspectives + 1);
  const verdict =
    /\*{1,2}VERDICT\s*:\s*([A-Z][A-Z\s-]*?)\*{1,2}/i.exec(report) ?? /\bVERDICT\s*:\s*([A-Z][A-Z\s-]+)/i.exec(report);
  return {
    verdict: verdict === null ? "" : verdict[1].trim(),
    criticalFindings: findings(/\bcritical findings?\b/, "CRITICAL"),
    majorFindings: findings(/\bmajor findings?\b/, "MAJOR"),
    minorFindings: findings(/\bminor findings?\b/, "MINOR"),
    missingItems: criticItems(lines, missing),
    perspectiveNotes: notes,
    hasPreCommitment: find(/\bpre-?commitment predictions?\b/) >= 0,
    hasGapAnalysis: missing >= 0,
    hasMultiPerspective: perspectives >= 0 || Object.values(notes).some((list) => list.length > 0),
  };
}

function parseCritic(report) {
  const lines = linesOf(report);
  const normal = lines.map(plainHeadingText);
  const items = [/\bsummary\b/, /\bjustification\b/].flatMap((pattern) =>
    criticItems(lines, normal.findIndex((line) => pattern.test(line))),
  );
  return {
    ...emptyReport(),
    verdict: criticVerdict(report),
    majorFindings: unique(items).map((text) => finding(text, "MAJOR")),
  };
}

function criticVerdict(report) {
  const bold = /\*{1,2}\[?\s*(OKAY|REJECT)\s*\]?\*{1,2}/i.exec(report);
  if (bold !== null) return bold[1].toUpperCase();
  for (const word of report.matchAll(/OKAY|REJECT/gi)) {
    const before = reachesLineEdge(report, word.index - 1, -1, "[");
    if (before && reachesLineEdge(report, word.index + word[0].length, 1, "]")) return word[0].toUpperCase();
  }
  return "";
}

/** Whether only white space and at most one bracket lie between a position and the edge of some line. */
function reachesLineEdge(text, at, step, bracket) {
  for (let brackets = 0; brackets < 2; at += step, brackets += 1) {
    for (; ; at += step) {
      if (at < 0 || at >= text.length || TERMINATORS.test(text[at])) return true;
      if (!/\s/.test(text[at])) break;
    }
    if (text[at] !== bracket) return false;
  }
  return false;
}

// ---------------------------------------------------------------- matching and scores

const PARSERS = { generic: parseGeneric, "harsh-critic": parseHarshCritic, critic: parseCritic };

/**
 * @param {object[]} findings of readTruth()
 * @returns {(text: string) => number[]} for each finding, how many keywords the text lacks of the threshold in the
 *   language that comes nearest to it; none and below is a match
 */
export function lackOf(findings) {
  const known = new Map();
  return (text) => {
    let row = known.get(text);
    if (row === undefined) {
      const item = preparedItem(text);
      const seen = new Map();
      const occurs = (keyword) => {
        let answer = seen.get(keyword.raw);
        if (answer === undefined) seen.set(keyword.raw, (answer = keywordOccurs(keyword, item)));
        return answer;
      };
      row = findings.map(({ lists }) =>
        Math.min(...lists.map(({ keywords, required }) => required - keywords.filter(occurs).length)),
      );
      known.set(text, row);
    }
    return row;
  };
}

function firstMatch(rows, order, used, limit) {
  for (let at = 0; at < limit; at += 1) if (rows[at][order] <= 0 && !used.has(at)) return at;
  return -1;
}

/**
 * Parse, match and score a report.
 * @param {string} report
 * @param {object} truth as parsed from JSON
 * @param {{parser?: "generic"|"harsh-critic"|"critic"}} options
 * @returns {{parsed: object, match: object, scores: object}}
 */
export function evaluate(report, truth, { parser = "generic" } = {}) {
  const { findings } = parser === "generic" ? readTruth(truth) : trustTruth(truth);
  const parsed = PARSERS[parser](report);
  const graded = [...parsed.criticalFindings, ...parsed.majorFindings, ...parsed.minorFindings];
  const notes = parsed.perspectiveNotes;
  const texts = graded.map(({ text }) => text).concat(parsed.missingItems, notes.security, notes.newHire, notes.ops);
  const rows = texts.map(lackOf(findings));
  const used = new Set();
  const matched = new Set();
  const missedIds = [];
  findings.forEach(({ id }, order) => {
    const at = firstMatch(rows, order, used, rows.length);
    if (at < 0) missedIds.push(id);
    else {
      used.add(at);
      matched.add(id);
    }
  });
  const match = {
    matchedIds: [...matched],
    missedIds,
    spuriousTexts: texts.filter((_, at) => !used.has(at)),
    totalAgentFindings: texts.length,
  };
  return { parsed, match, scores: scoresOf(parsed, findings, match, graded, rows) };
}

const rate = (part, whole) => (whole === 0 ? 0 : part / whole);

function scoresOf(parsed, findings, match, graded, rows) {
  const matched = new Set(match.matchedIds);
  const coverage = (category) => {
    const ids = findings.filter((one) => one.category === category).map(({ id }) => id);
    return rate(ids.filter((id) => matched.has(id)).length, ids.length);
  };
  const truePositiveRate = rate(matched.size, findings.length);
  const falseNegativeRate = rate(match.missedIds.length, findings.length);
  const falsePositiveRate = rate(match.spuriousTexts.length, match.totalAgentFindings);
  const missingCoverage = coverage("missing");
  const perspectiveCoverage = coverage("perspective");
  const weighty = [...parsed.criticalFindings, ...parsed.majorFindings];
  const evidenceRate = rate(weighty.filter((one) => one.hasEvidence).length, weighty.length);
  const { hasPreCommitment, hasMultiPerspective, hasGapAnalysis } = parsed;
  const process = [hasPreCommitment, hasMultiPerspective, hasGapAnalysis].filter(Boolean).length / 3;
  return {
    truePositiveRate,
    falsePositiveRate,
    falseNegativeRate,
    severityAccuracy: severityAccuracy(findings, match, graded, rows),
    missingCoverage,
    perspectiveCoverage,
    evidenceRate,
    hasPreCommitment,
    hasMultiPerspective,
    hasGapAnalysis,
    // Added left to right: another order changes the last digit.
    compositeScore:
      0.25 * truePositiveRate +
      0.15 * (1 - falseNegativeRate) +
      0.1 * (1 - falsePositiveRate) +
      0.2 * missingCoverage +
      0.1 * perspectiveCoverage +
      0.1 * evidenceRate +
      0.1 * process,
  };
}

function severityAccuracy(findings, match, graded, rows) {
  const used = new Set();
  let correct = 0;
  for (const id of match.matchedIds) {
    const order = findings.findIndex((one) => one.id === id);
    const at = firstMatch(rows, order, used, graded.length);
    if (at < 0) continue;
    used.add(at);
    const distance = SEVERITIES.indexOf(graded[at].severity) - SEVERITIES.indexOf(findings[order].severity);
    if (Math.abs(distance) <= 1) correct += 1;
  }
  return rate(correct, match.matchedIds.length);
}
