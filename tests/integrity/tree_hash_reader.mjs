// A third reader of docs/tree-hash.md, version 1, that shares no tool with the others: prints the hash of argv[2].
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const ignored = new Set([".git", ".hg", ".svn", ".bzr", ".jj", "CVS", "_darcs", "node_modules", "__pycache__", ".DS_Store"]);
const entries = [];

function list(directory, prefix) {
  for (const name of readdirSync(directory)) {
    if (ignored.has(name)) continue;
    const full = join(directory, name);
    const path = prefix + name;
    const status = statSync(full);
    if (status.isDirectory()) {
      entries.push([path, "d", "-", ""]);
      list(full, path + "/");
    } else {
      const content = createHash("sha256").update(readFileSync(full)).digest("hex");
      entries.push([path, "f", status.mode & 0o100 ? "x" : "-", content]);
    }
  }
}

const hash = createHash("sha256");
const field = (text) => hash.update(`${Buffer.byteLength(text)}:`).update(text, "utf8").update(",");

list(process.argv[2], "");
entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
field("harbor-author tree hash 1");
entries.flat().forEach(field);
console.log(`th1:${hash.digest("hex")}`);
