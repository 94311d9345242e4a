// M15: Bring host-pulse back to life on dsh 0.1.2-alpha.3
// Judged on a cold-booted web profile, by what the plugin's route says about providers and a workspace that the judge
// adds at run time: the old shape never activates (`pending (waiting for service: ...)`), a shape that drops the
// dependency boots and has nothing to say. Not judged: how the sources are laid out, the unit tests, the documents.
// Installed as a link (`dsh plugin add DIR`), so a missing dependency would not be noticed.
import { defineJudge } from "./judge-utils.mjs";

const judge = defineJudge({
  task: "M15-host-pulse",
  mode: "mutable",
  time_limit_s: 600,
  steps: [
    { id: "add", budget_s: 180 },
    { id: "web", budget_s: 150 },
    { id: "control", budget_s: 60 },
  ],
  checks: [
    { id: "boot", points: 15 },
    { id: "providers", points: 35 },
    { id: "unreachable", points: 20 },
    { id: "workspaces", points: 30 },
  ],
});

await judge.run(async () => {
  judge.gate();

  judge.makeProfile(["@deepseek-ai/dsh-base", "@deepseek-ai/dsh-web-app"]);
  const added = await judge.addPlugin({ step: "add" });
  if (!added.layer) {
    judge.award("boot", 0, added.why);
    return;
  }
  const web = await judge.bootWeb({ step: "web", control: "control", probe: new URL("./probe.mjs", import.meta.url).pathname });
  judge.band("boot", [[web.graph !== null, 15, web.why]], web.why);
  if (web.graph === null) return;
  await web.stop();

  const sound = parse(web.probe.sound);
  const broken = parse(web.probe.broken);

  const listed = sound.value?.providers?.find?.((row) => row?.id === "bench-sound");
  judge.band(
    "providers",
    [
      [listed?.name === "The provider bench-sound" && listed?.models === 3, 35, "lists a provider that came at run time, with its models"],
      [listed !== undefined, 15, "lists a provider that came at run time, but not with its name and number of models"],
    ],
    `does not list a provider of the host (${sound.seen})`,
  );
  judge.band(
    "unreachable",
    [
      [
        broken.value?.unreachable?.includes?.("bench-broken") && broken.value?.providers?.some?.((row) => row?.id === "bench-sound"),
        20,
        "names the provider that fails, and keeps the others",
      ],
      [broken.value?.providers?.some?.((row) => row?.id === "bench-sound"), 10, "keeps the others, but does not name the provider that fails"],
    ],
    `one provider that fails spoils the answer (${broken.seen})`,
  );
  const count = sound.value?.workspaces;
  judge.band("workspaces", [[count === web.probe.workspaces, 30, "counts the host's workspaces"]], `says ${JSON.stringify(count)} workspaces of ${web.probe.workspaces}`);
  if (listed === undefined && count !== web.probe.workspaces) judge.cap(15, "boots, but knows nothing of the host");
});

function parse({ status, body }) {
  const seen = `status ${status}: ${body.slice(0, 160)}`;
  try {
    return { value: JSON.parse(body), seen };
  } catch {
    return { value: null, seen };
  }
}
