// What a static check can ask of a plugin's files. Comments do not count as code, tests do not count as the plugin.
// The tool that made this task asked the same questions of the fixture (all answers no) and of the reference (all yes).
import path from "node:path";
import { readJson, readText, readTree, withoutComments } from "./judge-utils.mjs";

const SOURCE = /\.([cm]?[jt]s|[jt]sx|vue)$/;
const NO_SOURCE = /\.d\.[cm]?ts$|(^|\/)(tests?|__tests__|spec|e2e|cypress)\/|\.(test|spec)\.[a-z]+$/;
const LIST = String.raw`\[[^\]]{0,4000}\]`;
const OBJECT = String.raw`\{[^{}]{0,4000}(?:\{[^{}]{0,1000}\}[^{}]{0,1000}){0,50}\}`;
const INJECT = new RegExp(String.raw`\binject\b\s*(?::\s*(?=[\[{])|:[^=\n]{0,80}=|=|\()\s*(${LIST}|${OBJECT})`, "g");
const DECORATOR = /@Inject\(\s*(["'])([\w$.-]+)\1/g;

/**
 * @param {string} root the fixture
 * @param {string[]} contexts the names that plugins give the host's context
 * @returns {{exists: boolean, meets: (condition: {kind: string, value: string|string[], holds: boolean}) => boolean}}
 */
export function readPlugin(root, contexts) {
  const { entries } = readTree(root, { skip: [".git", "node_modules"] });
  const names = [...entries.keys()].filter((name) => SOURCE.test(name) && !NO_SOURCE.test(name));
  const code = names.map((name) => withoutComments(readText(path.join(root, name)).text ?? ""));
  const manifest = readJson(path.join(root, "package.json")).value;
  const injected = new Set(code.flatMap(injections));
  const context = `(?:${contexts.map(escape).join("|")})`;
  const inCode = (pattern) => code.some((text) => pattern.test(text));

  const there = {
    file: (name) => entries.get(name)?.kind === "a file",
    manifest: (keys) => {
      let value = manifest;
      for (const key of keys) {
        if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return false;
        value = value[key];
      }
      return true;
    },
    injects: (service) => injected.has(service),
    member: (service) => {
      const name = escape(service);
      return inCode(new RegExp(String.raw`\b${context}\s*\??\.\s*${name}(?![\w$])|\b${context}\[["']${name}["']\]`));
    },
    word: (word) => inCode(new RegExp(String.raw`(?<![\w$])${escape(word)}(?![\w$])`)),
    imports: (name) => inCode(new RegExp(String.raw`\b(?:from|import|require)\s*\(?\s*["']${escape(name)}(?:/[^"'\n]*)?["']`)),
    line: ([name, line]) => (readText(path.join(root, name)).text ?? "").split("\n").some((row) => row.trim() === line),
    digest: ([name, digest]) => entries.get(name)?.sha256 === digest,
  };
  return {
    exists: typeof manifest === "object" && manifest !== null && code.length > 0,
    meets: ({ kind, value, holds }) => there[kind](value) === holds,
  };
}

/** The services that a plugin's source asks for. */
function injections(text) {
  const found = [];
  for (const [, body] of text.matchAll(INJECT)) {
    let names = [...body.matchAll(/(["'`])([\w$.:/@-]+)\1/g)].map((match) => match[2]);
    if (body.startsWith("{") && !/\b(?:required|optional)\s*:\s*\[/.test(body))
      names = [...body.slice(1, -1).replace(/\{[^{}]*\}/g, "").matchAll(/(?:^|[,\s])["']?([\w$]+)["']?\s*:/g)].map((match) => match[1]);
    found.push(...names.filter((name) => /^[\w$.-]+$/.test(name)));
  }
  for (const match of text.matchAll(DECORATOR)) found.push(match[2]);
  return found;
}

function escape(text) {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
}
