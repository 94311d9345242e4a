// H23: Find the browser half of review-notes
// Judged on a cold-booted web profile: the boot graph lists the plugin, the host serves its current browser half, and its
// route answers. Boot and route are green on the untouched fixture, so neither counts without the entry in the graph.
// Not judged: what the browser half does (there is no browser), where the files lie, the documents.
// Installed as a link (`dsh plugin add DIR`), so a missing dependency would not be noticed.
import { defineJudge } from "./judge-utils.mjs";

const PACKAGE = "dsh-review-notes";

const judge = defineJudge({
  task: "H23-review-notes",
  mode: "mutable",
  time_limit_s: 600,
  steps: [
    { id: "add", budget_s: 180 },
    { id: "web", budget_s: 150 },
    { id: "control", budget_s: 60 },
  ],
  checks: [
    { id: "graph", points: 50 },
    { id: "bundle", points: 30 },
    { id: "route", points: 20 },
  ],
});

await judge.run(async () => {
  judge.gate();

  judge.makeProfile(["@deepseek-ai/dsh-base", "@deepseek-ai/dsh-web-app"]);
  const added = await judge.addPlugin({ step: "add" });
  if (!added.layer) {
    judge.award("graph", 0, added.why);
    return;
  }
  const web = await judge.bootWeb({ step: "web", control: "control" });
  if (web.graph === null) {
    judge.award("graph", 0, web.why);
    return;
  }
  const entry = web.graph.entries.find((row) => row.id === PACKAGE);
  judge.band("graph", [[entry !== undefined, 50, "the boot graph lists the plugin"]], "the boot is green, but the boot graph does not list the plugin");
  if (entry === undefined) {
    judge.cap(20, "the page never gets the browser half, whatever else was done");
    return;
  }

  const bundle = await web.get(entry.url);
  const current = bundle.status === 200 && bundle.body.includes("review-notes-panel") && bundle.body.includes("__ModuleLoader__");
  judge.band("bundle", [[current, 30, "the host serves the current browser half"]], `what the host serves is not the current browser half (status ${bundle.status})`);

  const route = await web.get("/review-notes/notes.json");
  judge.band("route", [[route.status === 200 && hasNotes(route.body), 20, "the host half answers"]], `the route of the host half does not answer (status ${route.status})`);
  await web.stop();
});

function hasNotes(body) {
  try {
    return JSON.parse(body).notes.length > 0;
  } catch {
    return false;
  }
}
