// Reads one JSON document a line and answers each: {report, truth, parser} with evaluate()'s result, {report, truth,
// prompt} with grade()'s, or {error}. The folder of findings.mjs and grading.mjs is the first argument.
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const { evaluate } = await import(new URL("findings.mjs", folder).href);
const { grade } = await import(new URL("grading.mjs", folder).href);

for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { report, truth, parser, prompt } = JSON.parse(line);
  let answer;
  try {
    answer = parser === undefined ? grade(report, truth, { prompt }) : evaluate(report, truth, { parser });
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
