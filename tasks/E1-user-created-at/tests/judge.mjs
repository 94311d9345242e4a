// E1: Give each user the time of its creation
// Judged: what the running service answers over HTTP; what an importer of its functions gets; and, by a pattern over
// the sources, that the field is declared, since there is no compiler here. Not judged: the rest of the types, how the
// code is laid out, tests.
import fs from "node:fs";
import path from "node:path";
import { defineJudge, readText, readTree, withoutComments } from "./judge-utils.mjs";
import { SERVICE_STEPS, causeOf, startService, takeProject } from "./service.mjs";

const judge = defineJudge({
  task: "E1-user-created-at",
  mode: "mutable",
  time_limit_s: 300,
  steps: [...SERVICE_STEPS, { id: "importer", budget_s: 30 }],
  checks: [
    { id: "type", points: 15 },
    { id: "set", points: 40 },
    { id: "fixed", points: 25 },
    { id: "kept", points: 20 },
  ],
});

/** An importer of the service's functions: one that knows nothing of the new field. */
const IMPORTER = `
import { createUser, getUser, listUsers, updateUser } from "./src/services/user-service.ts";
const user = createUser({ email: "Importer@example.org", name: "Importer" });
const again = getUser(user.id);
const updated = updateUser(user.id, { name: "Changed" });
console.log(JSON.stringify({
  isDate: user.createdAt instanceof Date && again.createdAt instanceof Date && updated.createdAt instanceof Date,
  works: again.id === user.id && again.email === "Importer@example.org" && updated.name === "Changed"
    && listUsers().length === 1 && getUser("nobody") === undefined && updateUser("nobody", {}) === undefined,
}));
`;

await judge.run(async () => {
  judge.gate();

  const code = sources(path.join(judge.fixture, "src"));
  const declared = /\bcreatedAt\s*(\??)\s*:\s*(?:Readonly\s*<\s*)?Date\b(?!\s*\.)/.exec(code);
  judge.band(
    "type",
    [
      [declared !== null && declared[1] === "", 15, "the field is declared as a Date"],
      [declared !== null, 8, "the field is declared as optional"],
    ],
    "no declaration of createdAt as a Date",
  );

  const project = takeProject(judge);
  fs.writeFileSync(path.join(project, "importer.judge.mjs"), IMPORTER);
  const service = await startService(judge, { directory: project });
  judge.require(service.address !== null, `the service does not start: ${service.problem}`);

  const ada = await create(service, { email: "Ada@example.org", name: "Ada", nickname: "Countess" });
  // A time taken once, at the start or with the first user, must not pass for that of the second.
  await new Promise((resolve) => setTimeout(resolve, 25));
  const bob = await create(service, { email: "bob@example.org", name: "Bob" });
  const read = await service.call("GET", `/users/${ada.id}`);
  const list = await service.call("GET", "/users");
  const written = ada.inTime && bob.inTime;
  const stable = read.json?.createdAt === ada.createdAt && list.json?.[1]?.createdAt === bob.createdAt;
  const exact = isMoment(ada.createdAt) && isMoment(bob.createdAt);
  const set = judge.band(
    "set",
    [
      [written && stable && exact, 40, "each user has the time of its creation in each answer"],
      [written && stable, 15, `the time is not in the form that was asked for: ${JSON.stringify(ada.createdAt)}`],
      [written, 10, `another answer has another time, or none: ${ada.createdAt}, then ${read.summary}`],
    ],
    ada.createdAt === undefined ? "no createdAt in the answer to POST /users" : `not the time of creation: ${ada.createdAt}, then ${bob.createdAt}`,
  );
  if (written && !stable) judge.cap(40, "the time is that of the answer, not of the user");
  if (!written || !stable) {
    for (const check of ["fixed", "kept"]) judge.award(check, 0, "counts once each user has its time");
    return;
  }

  const forged = "2001-01-01T00:00:00.000Z";
  const eve = await create(service, { email: "eve@example.org", name: "Eve", createdAt: forged });
  const chosen = !(eve.inTime || isRefusal(eve.status));
  const renamed = await service.call("PATCH", `/users/${ada.id}`, { name: "Ada L." });
  const tried = await service.call("PATCH", `/users/${ada.id}`, { createdAt: forged });
  const after = await service.call("GET", `/users/${ada.id}`);
  const changed = [renamed, after].some((answer) => answer.json?.createdAt !== ada.createdAt)
    || !(tried.json?.createdAt === ada.createdAt || isRefusal(tried.status));
  judge.band(
    "fixed",
    [
      [!chosen && !changed, 25, "no request chooses or changes the time"],
      [chosen !== changed, 10, chosen ? "a body with createdAt chooses the time of a new user" : "PATCH changes the time"],
    ],
    "request bodies choose the time of a new user, and change it later",
  );

  const importer = await judge.exec("importer", ["node", "importer.judge.mjs"], { cwd: project });
  judge.mustExit(importer);
  const faults = [];
  if (importer.exitCode !== 0) {
    faults.push(`an importer of the service's functions fails: ${causeOf(importer.output)}`);
    judge.cap(60, "the other services that import the functions of this one are broken");
  } else {
    const { isDate, works } = JSON.parse(importer.stdout.trim().split("\n").at(-1));
    if (!works) faults.push("the service's functions do not do what they did");
    else if (!isDate) faults.push("an importer of the service's functions gets no Date");
  }
  const fields = Object.keys(ada.json).sort().join();
  if (ada.status !== 201 || fields !== "createdAt,email,id,name,nickname") faults.push(`POST /users answers ${ada.status} with ${fields}`);
  if (ada.json.email !== "Ada@example.org") faults.push("an e-mail address is changed");
  const same = { ...ada.json, name: "Ada L." };
  if (renamed.status !== 200 || !sameButTime(renamed.json, same) || !sameButTime(after.json, same)) faults.push(`PATCH answers ${renamed.summary}`);
  const own = await service.call("PATCH", `/users/${bob.id}`, { id: "mine", nickname: "B" });
  if (!sameButTime(own.json, { ...bob.json, nickname: "B" })) faults.push(`PATCH of another field answers ${own.summary}`);
  const names = (await service.call("GET", "/users")).json?.map?.((user) => user.name).slice(0, 2).join();
  if (names !== "Ada L.,Bob") faults.push(`GET /users is not in the order of creation: ${names}`);
  for (const [method, where, body, status] of [
    ["GET", "/users/nobody", undefined, 404],
    ["PATCH", "/users/nobody", { name: "x" }, 404],
    ["POST", "/users", { name: "no address" }, 400],
  ]) {
    const answer = await service.call(method, where, body);
    if (answer.status !== status || typeof answer.json?.error !== "string") faults.push(`${method} ${where} answers ${answer.summary}`);
  }
  judge.band(
    "kept",
    [
      [faults.length === 0 && set === 40, 20, "everything else is as it was"],
      [faults.length === 0, 10, "everything else is as it was, but the field is not as asked for"],
    ],
    faults.slice(0, 3).join("; "),
  );
});

/** POST a user; inTime: its createdAt lies within the span of the request. */
async function create(service, body) {
  const before = Date.now();
  const answer = await service.call("POST", "/users", body);
  const after = Date.now();
  const createdAt = answer.json?.createdAt;
  // A form without milliseconds, or a number, may be off by its own precision.
  const time = new Date(createdAt ?? Number.NaN).getTime();
  const precision = typeof createdAt === "number" || isMoment(createdAt) ? 0 : 1000;
  return { ...answer, id: answer.json?.id, createdAt, inTime: time >= before - precision && time <= after };
}

function isMoment(value) {
  return typeof value === "string" && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value;
}

function isRefusal(status) {
  return status >= 400 && status < 500;
}

/** Whether two users are equal but for their time, which has a check of its own. */
function sameButTime(one, other) {
  const sorted = (value) => JSON.stringify(Object.entries({ ...value, createdAt: null }).sort());
  return sorted(one) === sorted(other);
}

/** All TypeScript below a folder, without comments: a name in a comment is no declaration. */
function sources(root) {
  const { entries } = readTree(root);
  return [...entries.keys()]
    .filter((name) => name.endsWith(".ts"))
    .map((name) => withoutComments(readText(path.join(root, name)).text ?? ""))
    .join("\n");
}
