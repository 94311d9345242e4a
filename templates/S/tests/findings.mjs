// Which findings of a ground truth a report has. A first, simple matcher: a finding is found when one section or
// list item of the report names its place and most of its keywords; words scattered over the report do not count.

/**
 * @param {string} report Markdown
 * @param {{findings: {id: string, keywords: string[], location?: string}[]}} groundTruth
 * @returns {{id: string, found: boolean, reason: string}[]} one a finding, in the ground truth's order
 */
export function matchFindings(report, groundTruth) {
  const blocks = blocksOf(report);
  return groundTruth.findings.map((finding) => {
    const needed = Math.ceil(finding.keywords.length * 0.75);
    let best = { count: 0, missing: finding.keywords };
    for (const block of blocks) {
      if (finding.location && !block.includes(finding.location.toLowerCase())) continue;
      const missing = finding.keywords.filter((keyword) => !hasWord(block, keyword.toLowerCase()));
      const count = finding.keywords.length - missing.length;
      if (count > best.count) best = { count, missing };
    }
    const found = best.count >= needed;
    return { id: finding.id, found, reason: found ? "found" : `not found (no section holds: ${best.missing.join(", ")})` };
  });
}

/** Sections by heading, and within them the items of a list; lower case. */
function blocksOf(report) {
  const text = report.normalize("NFKC").toLowerCase();
  const sections = text.split(/^#{1,6}\s/m);
  const items = sections.flatMap((section) => section.split(/^(?:[-*+]|\d+[.)])\s/m));
  return [...sections, ...items].filter((block) => block.trim() !== "");
}

function hasWord(block, word) {
  let from = block.indexOf(word);
  while (from >= 0) {
    const before = block[from - 1] ?? " ";
    const after = block[from + word.length] ?? " ";
    if (!/[a-z0-9_]/.test(before) && !/[a-z0-9_]/.test(after)) return true;
    from = block.indexOf(word, from + 1);
  }
  return false;
}
