// E2: Refuse products that break the catalogue's rules
// Judged: what the running service answers over HTTP to products that keep or break each rule, what it stores, and what
// the supplier import gets from the functions that it calls. Not judged: the browser's form, wording, code layout.
import fs from "node:fs";
import path from "node:path";
import { defineJudge, readText } from "./judge-utils.mjs";
import { SERVICE_STEPS, causeOf, startService, takeProject } from "./service.mjs";

const judge = defineJudge({
  task: "E2-product-validation",
  mode: "mutable",
  time_limit_s: 300,
  steps: [...SERVICE_STEPS, { id: "importer", budget_s: 30 }],
  checks: [
    { id: "name", points: 12 },
    { id: "price", points: 20 },
    { id: "sku", points: 18 },
    { id: "category", points: 12 },
    { id: "body", points: 10 },
    { id: "answer", points: 13 },
    { id: "kept", points: 15 },
  ],
});

/** JSON text, for what JSON.stringify cannot write. */
class Raw {
  constructor(text) {
    this.text = text;
  }
}
const ABSENT = Symbol("absent");
const OK = { ok: true, first: null };

/**
 * Of each field: values that keep its rule; values that plainly break it; and values that break it in a way that
 * slips through a careless check (another type that converts itself, a near miss, rounding).
 */
const RULES = {
  name: {
    keep: ["x", "Lamp", " Lamp ", "x".repeat(100), "Lämpchen 灯"],
    break: ["", "x".repeat(101), ABSENT, 7],
    slip: ["   ", "\t\n", null, true, ["Lamp"], ["a", "b"], {}, { length: 5 }],
  },
  price: {
    keep: [20, 0, 0.5, 1234.5, 99999.99, new Raw("5.00"), new Raw("1e2")],
    cents: [19.99, 0.07, 0.29, 0.57, 1.1, 1.15, 4.35, 8.2, 64.1, 1005.05, 33333.33],
    break: [-1, 100000, ABSENT, "cheap"],
    slip: ["19.99", "", "NaN", new Raw("1e999"), new Raw("-1e999"), null, true, [19.99], [], {}, -0.01, 100000.01],
    fractions: [19.999, 0.001, 1.005, 2.675, 99999.991],
    // Written with an exponent, and so without a decimal point.
    tiny: [1e-7, new Raw("0.00000012")],
  },
  sku: {
    keep: ["ABC-1234", "ZZZ-123456", "LMP-00420"],
    break: ["LMP0042", "LM-0042", "LMPX-0042", "LMP-004", "LMP-0042001", "", ABSENT, 42],
    slip: ["LMP-0042x", "xLMP-0042", "LMP-004X", "LMP-0042\n", " LMP-0042", "x\nLMP-0042", "LMP-٠٠٤٢", "ÄMP-0042", "1MP-0042", null, true, ["LMP-0042"], {}],
    lower: ["lmp-0042", "Lmp-0042", "LMp-0042"],
  },
  category: {
    keep: ["audio", "garden", "kitchen", "office"],
    break: ["food", "", ABSENT, 1],
    slip: ["Audio", "audio ", "aud", "audio,garden", "constructor", "toString", "__proto__", null, true, ["audio"], {}, 0],
  },
};
const GOOD = { name: "Lamp", price: 20, sku: "LMP-0042", category: "office" };

/** The supplier import as it calls the service today: SKUs come in lower case, prices with fractions. */
const IMPORTER = `
import { importSupplierList } from "./src/jobs/import-supplier-list.ts";
import { DuplicateSkuError, addProduct, findBySku, listProducts } from "./src/services/product-service.ts";
const row = { name: "Hose", price: 30.125, sku: " hos-0001 ", category: "garden" };
const counts = importSupplierList([row, { ...row, price: 25 }]);
let duplicate = false;
try { addProduct(row); } catch (error) { duplicate = error instanceof DuplicateSkuError; }
const works = counts.added === 1 && counts.cheaper === 1 && duplicate && listProducts().length === 1
  && findBySku("hos-0001").sku === "HOS-0001" && findBySku("HOS-0001").price === 25;
console.log(JSON.stringify({ works }));
`;

await judge.run(async () => {
  judge.gate();
  const project = takeProject(judge);
  fs.writeFileSync(path.join(project, "importer.judge.mjs"), IMPORTER);
  const service = await startService(judge, { directory: project });
  judge.require(service.address !== null, `the service does not start: ${service.problem}`);

  const log = { sent: 0, added: 0, refusals: [] };
  const results = {};
  for (const [field, groups] of Object.entries(RULES)) results[field] = await probe(service, field, groups, log);
  const { name, price, sku, category } = results;

  const earned = [
    plainRule("name", 12, name),
    plainRule("category", 12, category),
    judge.band(
      "price",
      [
        [right(price), 20, "prices from 0 to 99999.99 with at most two decimals, and no others"],
        [right({ ...price, tiny: OK }), 16, `a tiny fraction passes: ${price.tiny.first}`],
        [price.keep.ok && price.cents.ok && price.break.ok && price.slip.ok, 12, `more than two decimals pass: ${price.fractions.first}`],
        [price.keep.ok && price.break.ok && price.slip.ok, 8, `the range and the type are judged, two decimals are not: ${price.cents.first ?? price.fractions.first}`],
        [price.keep.ok && price.break.ok, 4, `an odd price is not refused: ${price.slip.first}`],
      ],
      firstFault(price),
    ),
    judge.band(
      "sku",
      [
        [right(sku), 18, "SKUs of the pattern, and no others"],
        [sku.keep.ok && sku.break.ok && sku.slip.ok, 8, `a SKU in lower case is not refused: ${sku.lower.first}`],
        [sku.keep.ok && sku.break.ok, 4, `a near miss is not refused: ${sku.slip.first}`],
      ],
      firstFault(sku),
    ),
  ].reduce((sum, points) => sum + points, 0);
  if (earned === 0) {
    for (const check of ["body", "answer", "kept"]) judge.award(check, 0, "counts once a field's rule is in force");
    return;
  }
  if (price.keep.ok && price.break.ok && !price.cents.ok) judge.cap(60, `prices that customers pay are refused: ${price.cents.first}`);
  if (price.keep.ok && price.break.ok && !price.fractions.ok) judge.cap(60, `fractions of a cent get into the catalogue: ${price.fractions.first}`);
  if (sku.keep.ok && sku.break.ok && !sku.lower.ok) judge.cap(60, "SKUs in lower case get into the catalogue");

  const bodies = await probeBodies(service, log);
  judge.band("body", [[bodies === null, 10, "a body that is no JSON object is refused"]], bodies);

  judgeAnswers(log, await manyFaults(service));
  await judgeKept(service, log, project);
});

/** Send one good product with `field` replaced, for each value of each group. */
async function probe(service, field, groups, log) {
  const result = {};
  for (const [group, values] of Object.entries(groups)) {
    const accepted = group === "keep" || group === "cents";
    const faults = [];
    const products = values.map((value) => {
      log.sent += 1;
      return { ...GOOD, sku: `AAA-${String(log.sent).padStart(6, "0")}`, [field]: value };
    });
    const answers = await Promise.all(products.map((product) => service.call("POST", "/products", textOf(product))));
    for (const [index, answer] of answers.entries()) {
      const sent = products[index];
      const value = sent[field];
      const shown = `${field} ${value === ABSENT ? "left out" : value instanceof Raw ? value.text : JSON.stringify(value)?.slice(0, 60)}`;
      if (answer.status === 201) log.added += 1;
      if (answer.status === 400 && !accepted) log.refusals.push({ answer, fields: [field], shown });
      if (answer.status !== (accepted ? 201 : 400)) faults.push(`${shown}: ${answer.summary}`);
      else if (accepted && !sameProduct(answer.json, sent)) faults.push(`${shown} is stored as another: ${answer.summary}`);
    }
    result[group] = { ok: faults.length === 0, first: faults[0] ?? null };
  }
  return result;
}

function right(result) {
  return Object.values(result).every((group) => group.ok);
}

function firstFault(result) {
  return Object.values(result).find((group) => !group.ok)?.first ?? "";
}

function plainRule(field, points, result) {
  return judge.band(
    field,
    [
      [right(result), points, "the rule is in force"],
      [result.keep.ok && result.break.ok, points / 3, `an odd value is not refused: ${result.slip.first}`],
    ],
    firstFault(result),
  );
}

/** Bodies that are no JSON object. @returns {Promise<string|null>} the first fault */
async function probeBodies(service, log) {
  let fault = null;
  const json = { "content-type": "application/json" };
  for (const [shown, text, headers] of [
    ["malformed JSON", '{"name": "Lamp",', json],
    ["a price of NaN", '{"name": "Lamp", "price": NaN, "sku": "LMP-0042", "category": "office"}', json],
    ["an array", "[]", json],
    ["an array of a product", JSON.stringify([GOOD]), json],
    ["null", "null", json],
    ["a text", '"Lamp"', json],
    ["no body", undefined, {}],
    ["text of no type", "Lamp", { "content-type": "text/plain" }],
  ]) {
    const answer = await service.call("POST", "/products", text, { headers });
    if (answer.status === 201) log.added += 1;
    const named = answer.status === 400 && entriesOf(answer)?.every((entry) => entry.field === "body") === true;
    if (!named) fault ??= `${shown}: ${answer.summary}`;
  }
  return fault;
}

/** A product with three broken fields, and one with none right. */
async function manyFaults(service) {
  const three = { ...GOOD, sku: "nothing", price: -1, category: "food" };
  const all = {};
  return [
    { shown: "three broken fields", fields: ["category", "price", "sku"], answer: await service.call("POST", "/products", three) },
    { shown: "an empty object", fields: ["category", "name", "price", "sku"], answer: await service.call("POST", "/products", all) },
  ];
}

function judgeAnswers({ refusals }, many) {
  const all = [...refusals, ...many];
  const faults = { none: null, inexact: null };
  for (const { answer, fields, shown } of all) {
    const entries = answer.status === 400 ? entriesOf(answer) : null;
    const named = [...new Set(entries?.map((entry) => entry.field) ?? [])].sort();
    if (!fields.some((field) => named.includes(field))) faults.none ??= `${shown}: ${answer.summary}`;
    else if (named.join() !== fields.join()) faults.inexact ??= `${shown}: names ${named.join(", ")}`;
  }
  judge.band(
    "answer",
    [
      [faults.none === null && faults.inexact === null, 13, "each refusal names just the fields that break a rule"],
      [faults.none === null, 6, `not just the fields that break a rule: ${faults.inexact}`],
    ],
    `a refusal does not say which field: ${faults.none}`,
  );
}

async function judgeKept(service, log, project) {
  const faults = [];
  const added = await service.call("POST", "/products", { ...GOOD, sku: "KPT-0001", extra: "left out" });
  const fields = Object.keys(added.json ?? {}).sort().join();
  if (added.status !== 201 || fields !== "category,id,name,price,sku") faults.push(`POST /products answers ${added.summary}`);
  const list = await service.call("GET", "/products");
  if (list.json?.length !== log.added + 1) faults.push(`GET /products has ${list.json?.length} products, ${log.added + 1} were added`);
  for (const where of [`/products/${added.json?.id}`, "/products/by-sku/KPT-0001", "/products/by-sku/kpt-0001"]) {
    const answer = await service.call("GET", where);
    if (answer.status !== 200 || answer.json?.id !== added.json?.id) faults.push(`GET ${where} answers ${answer.summary}`);
  }
  for (const [where, status] of [["/products/nothing", 404], ["/products/by-sku/KPT-9999", 404], ["/", 200]]) {
    const answer = await service.call("GET", where);
    if (answer.status !== status) faults.push(`GET ${where} answers ${answer.summary}`);
  }
  const twice = await service.call("POST", "/products", { ...GOOD, sku: "KPT-0001" });
  if (twice.status !== 409) faults.push(`a second product of one SKU: ${twice.summary}`);
  const [was, is] = ["/opt/bench/baseline", judge.fixture].map((root) => readText(path.join(root, "src/types/product.ts")).text);
  if (was !== is) faults.push("src/types/product.ts is another");

  const importer = await judge.exec("importer", ["node", "importer.judge.mjs"], { cwd: project });
  judge.mustExit(importer);
  const broken = importer.exitCode !== 0 ? causeOf(importer.output) : JSON.parse(importer.stdout.trim().split("\n").at(-1)).works ? null : "it stores something else";
  if (broken !== null) {
    faults.push(`the import of suppliers' lists fails: ${broken}`);
    judge.cap(70, "the nightly import of suppliers' lists is broken");
  }
  judge.band("kept", [[faults.length === 0, 15, "everything else is as it was"]], faults.slice(0, 3).join("; "));
}

function textOf(product) {
  const parts = Object.entries(product)
    .filter(([, value]) => value !== ABSENT)
    .map(([key, value]) => `${JSON.stringify(key)}:${value instanceof Raw ? value.text : JSON.stringify(value)}`);
  return Buffer.from(`{${parts.join()}}`);
}

function sameProduct(stored, sent) {
  return Object.keys(GOOD).every((key) => {
    const wanted = sent[key] instanceof Raw ? JSON.parse(sent[key].text) : sent[key];
    return stored?.[key] === wanted;
  });
}

/** The entries of a refusal, or null when it has not the form that was asked for. */
function entriesOf(answer) {
  const entries = answer.json?.errors;
  if (!Array.isArray(entries) || entries.length === 0) return null;
  const whole = entries.every((entry) => typeof entry?.field === "string" && typeof entry.message === "string" && entry.message.trim() !== "");
  return whole ? entries : null;
}
