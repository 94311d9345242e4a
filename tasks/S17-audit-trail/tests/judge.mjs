// S17: Which parts of audit-trail break on dsh 0.1.2-alpha.3
// Judged: the findings that the report names, against ground-truth.json and its rubric (equal points without one).
// Not judged: wording, order, language, length and severities of the report.
import { defineJudge, readJson, readText } from "./judge-utils.mjs";
import { grade, isBinary, rubricOf } from "./grading.mjs";

const REPORT = "/app/report.md";

const beside = (name) => new URL(name, import.meta.url).pathname;
const { value: truth, problem } = readJson(beside("ground-truth.json"));
let fault = problem;
let checks = [{ id: "report", points: 100 }];
try {
  if (fault === null) checks = [...rubricOf(truth).points].map(([id, points]) => ({ id, points }));
} catch (error) {
  fault = `ground-truth.json: ${error.message}`;
}

const judge = defineJudge({
  task: "S17-audit-trail",
  mode: "readonly",
  time_limit_s: 120,
  checks,
});

await judge.run(async () => {
  if (fault !== null) throw new Error(fault);
  judge.gate();
  const { text, problem: unread } = readText(REPORT);
  judge.require(text !== null, `no report (${unread})`);
  judge.require(!isBinary(text), `no report (${REPORT}: is binary)`);
  judge.require(text.trim() !== "", "the report is empty");
  // A copy of instruction.md here is optional: passages of the report that repeat it prove nothing.
  const graded = grade(text, truth, { prompt: readText(beside("prompt.md")).text ?? "" });
  for (const reason of graded.reasons) judge.note(reason);
  for (const { id, earned, reason } of graded.checks) judge.award(id, earned, reason);
  for (const { limit, reason } of graded.caps) judge.cap(limit, reason);
});
