// The three parsers in the reference's own regular expressions, as its description gives them, which back-track at will.
// Reads {report, parser} a line and prints what it parses: a check on our rewritten, linear forms.
import readline from "node:readline";

const EVIDENCE = /`[^`]+`|\b(?:[A-Za-z0-9_./-]+\.[A-Za-z0-9_+-]+|[A-Za-z_][A-Za-z0-9_]*\(\)):\d+(?:-\d+)?(?:[:]\d+)?\b/;
const HASH = /^#{1,6}\s+\S/;
const STARS = /^\*{1,2}[^*\n]+?\*{1,2}(?:\s*\([^)\n]*\))?\s*:?\s*$/;
const PLAIN = /^[A-Za-z][A-Za-z0-9'() \-/]{2,}:\s*$/;
const finding = (text, severity) => ({ text, severity, hasEvidence: EVIDENCE.test(text) });
const lines = (text) => text.split(/\r?\n/);
const keep = (text) => text !== "" && !/^none\.?$/i.test(text);

const empty = () => ({
  verdict: "", criticalFindings: [], majorFindings: [], minorFindings: [], missingItems: [],
  perspectiveNotes: { security: [], newHire: [], ops: [] },
  hasPreCommitment: false, hasGapAnalysis: false, hasMultiPerspective: false,
});

function headingText(line, dashes) {
  let text = line.trim().replace(/^#{1,6}\s*/, "").replace(/^\*{1,2}\s*/, "").replace(/\s*\*{1,2}\s*:?\s*$/, "");
  if (dashes) text = text.replace(/[\u2014\u2013]/g, "-");
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}

const genericHeading = (line) => {
  const text = line.trim();
  return text !== "" && (HASH.test(text) || STARS.test(text) || PLAIN.test(text));
};

function genericItems(all) {
  const items = [];
  let current = null;
  const end = () => {
    if (current !== null && keep(current.trim())) items.push(current.trim());
    current = null;
  };
  for (const line of all.map((one) => one.trim())) {
    const item = /^(?:[-*\u2022]|\d+[.)])\s+(.+)$/.exec(line);
    if (line === "") end();
    else if (item !== null) {
      end();
      current = item[1].trim();
    } else if (current !== null) current += ` ${line}`;
  }
  end();
  return items;
}

function generic(raw) {
  const out = empty();
  const bucket = { CRITICAL: out.criticalFindings, MAJOR: out.majorFindings, MINOR: out.minorFindings };
  const own = (text) => ["CRITICAL", "MAJOR", "MINOR"].find((word) => new RegExp(`\\b${word}\\b`).test(text.toUpperCase())) ?? "MAJOR";
  const sections = [{ heading: "", content: [] }];
  for (const line of lines(raw)) {
    if (genericHeading(line)) sections.push({ heading: headingText(line, false), content: [] });
    else sections.at(-1).content.push(line);
  }
  let seen = false;
  for (const { heading, content } of sections) {
    const items = genericItems(content);
    const severity = ["critical", "major", "minor"].find((word) => new RegExp(`\\b${word}\\b`).test(heading))?.toUpperCase();
    if (severity !== undefined) {
      seen = true;
      bucket[severity].push(...items.map((text) => finding(text, severity)));
    } else if (/\bmissing\b/.test(heading) || /\bgap\b/.test(heading)) out.missingItems.push(...items);
    else if (/\bfinding|issue|problem|bug|error|diagnos|root.?cause|fix|recommend/i.test(heading))
      for (const text of items) bucket[own(text)].push(finding(text, own(text)));
  }
  if (!seen && Object.values(bucket).every((list) => list.length === 0))
    for (const text of genericItems(lines(raw))) if (text.length >= 15) bucket[own(text)].push(finding(text, own(text)));
  const verdict = /\*{0,2}(?:VERDICT|CLASSIFICATION|DIAGNOSIS|APPROACH)\s*:\s*([^\n*]+)/i.exec(raw);
  out.verdict = verdict === null ? "" : verdict[1].trim().replace(/\*+$/, "");
  out.hasPreCommitment = /\bpre-?commitment\b/i.test(raw);
  out.hasGapAnalysis = /\bwhat'?s?\s+missing\b/i.test(raw) || /\bgap\s+analysis\b/i.test(raw);
  out.hasMultiPerspective = /\bperspective\b/i.test(raw) && /\bsecurity\b/i.test(raw);
  return out;
}

const RULE = /^\s*(?:---+|\*\*\*+)\s*$/;
const criticHeading = (line) => {
  const text = line.trim();
  if (text === "") return false;
  if (RULE.test(text) || HASH.test(text)) return true;
  return !/^\*{1,2}\s*\d+[.)]\s+/.test(text) && (STARS.test(text) || PLAIN.test(text));
};
const SUBFIELD = /^(?:\*{1,2})?(?:evidence|why this matters|fix|impact|risk|mitigation|proof|location|example|note)\b/i;

const sectionAt = (all, patterns) => all.findIndex((line) => patterns.some((pattern) => pattern.test(headingText(line, true))));

function sectionItems(all, at) {
  const items = [];
  if (at < 0) return items;
  let current = "";
  let kind = null;
  const end = () => {
    if (keep(current.trim())) items.push(current.trim());
    current = "";
    kind = null;
  };
  for (const raw of all.slice(at + 1)) {
    if (criticHeading(raw)) break;
    const line = raw.replace(/\r/g, "");
    const number = /^([ \t]*)(?:\*{1,2}\s*)?\d+[.)](?:\*{1,2})?\s+(.+)$/.exec(line);
    const bullet = /^([ \t]*)[-*•]\s+(.+)$/.exec(line);
    if (line.trim() === "" || RULE.test(line)) end();
    else if (number !== null) {
      end();
      current = number[2].trim();
      kind = "number";
    } else if (bullet !== null) {
      const text = bullet[2].trim();
      if (text === "") continue;
      const indent = bullet[1].replace(/\t/g, "  ").length;
      if (current !== "" && (indent >= 2 || kind === "number" || SUBFIELD.test(text))) current += ` ${text}`;
      else {
        end();
        current = text;
        kind = "bullet";
      }
    } else if (current !== "") current += ` ${line.trim()}`;
  }
  end();
  return items;
}

function unique(texts) {
  const seen = new Set();
  return texts.map((text) => text.trim()).filter((text) => text !== "" && !seen.has(text.toLowerCase()) && seen.add(text.toLowerCase()));
}

function notesOf(scope) {
  const notes = { security: [], newHire: [], ops: [] };
  const add = (name, text) => keep(text.trim()) && notes[name].push(text.trim());
  for (const line of scope) {
    const bullet = /^([ \t]*)[-*•]\s+(.+)$/.exec(line.replace(/\r/g, ""));
    const note = bullet && /^(Security|New-?hire|Ops)\s*:\s*(.+)$/i.exec(bullet[2].trim());
    if (note) add({ s: "security", n: "newHire", o: "ops" }[note[1][0].toLowerCase()], note[2]);
  }
  let perspective = null;
  let current = "";
  const end = () => {
    if (perspective !== null) add(perspective, current);
    current = "";
  };
  for (const line of scope) {
    const text = line.trim();
    if (text === "" || RULE.test(text)) end();
    else if (criticHeading(line)) {
      end();
      const heading = headingText(line, true);
      perspective = /\bsecurity\b/.test(heading) ? "security" : /\bnew[- ]?hire\b/.test(heading) ? "newHire" : /\bops\b/.test(heading) ? "ops" : null;
    } else if (perspective !== null) {
      const item = /^(?:[-*•]|(?:\*{1,2}\s*)?\d+[.)](?:\*{1,2})?)\s+(.+)$/.exec(text);
      if (item !== null) {
        end();
        current = item[1].trim();
      } else current = current === "" ? text : `${current} ${text}`;
    }
  }
  end();
  return Object.fromEntries(Object.entries(notes).map(([name, list]) => [name, unique(list)]));
}

function harsh(raw) {
  const all = lines(raw);
  const find = (...patterns) => sectionAt(all, patterns);
  const items = (pattern, severity) => sectionItems(all, find(pattern)).map((text) => finding(text, severity));
  const missing = find(/\bwhat'?s?\s+missing\b/);
  const multi = find(/\bmulti-?perspective\b.*\b(?:notes?|review)\b/, /\bphase\s*\d+\b.*\bmulti-?perspective\b/);
  const notes = notesOf(multi < 0 ? all : all.slice(multi + 1));
  const verdict = /\*{1,2}VERDICT\s*:\s*([A-Z][A-Z\s-]*?)\*{1,2}/i.exec(raw) ?? /\bVERDICT\s*:\s*([A-Z][A-Z\s-]+)/i.exec(raw);
  return {
    verdict: verdict === null ? "" : verdict[1].trim(),
    criticalFindings: items(/\bcritical\s+findings?\b/, "CRITICAL"),
    majorFindings: items(/\bmajor\s+findings?\b/, "MAJOR"),
    minorFindings: items(/\bminor\s+findings?\b/, "MINOR"),
    missingItems: sectionItems(all, missing),
    perspectiveNotes: notes,
    hasPreCommitment: find(/\bpre-?commitment\s+predictions?\b/) >= 0,
    hasGapAnalysis: missing >= 0,
    hasMultiPerspective: multi >= 0 || Object.values(notes).some((list) => list.length > 0),
  };
}

function critic(raw) {
  const all = lines(raw);
  const items = [/\bsummary\b/, /\bjustification\b/].flatMap((pattern) => sectionItems(all, sectionAt(all, [pattern])));
  const verdict = /\*{1,2}\[?\s*(OKAY|REJECT)\s*\]?\*{1,2}/i.exec(raw) ?? /^\s*\[?\s*(OKAY|REJECT)\s*\]?\s*$/im.exec(raw);
  return {
    ...empty(),
    verdict: verdict === null ? "" : verdict[1].toUpperCase(),
    majorFindings: unique(items).map((text) => finding(text, "MAJOR")),
  };
}

const PARSERS = { generic, "harsh-critic": harsh, critic };
for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { report, parser } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(PARSERS[parser](report))}\n`);
}
