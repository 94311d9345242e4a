// Runs inside the host, once the whole tree is up: gives it providers and a workspace that no plugin can know
// beforehand, and reads the plugin's route before and after one provider fails.
import { mkdtempSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

const adapter = (listModels) => ({
  providerInfo: (id) => ({ id, name: `The provider ${id}` }),
  providerRetryPolicy: () => undefined,
  imageRequestPricing: () => undefined,
  listModels,
});

export async function probe(ctx) {
  const llm = ctx.get("llm");
  const registry = ctx.get("workspaceRegistry");
  llm.registerAdapter(
    ["bench-sound"],
    adapter(async (provider) => ["one", "two", "three"].map((id) => ({ provider, id, name: id }))),
  );
  await registry.create(mkdtempSync(path.join(tmpdir(), "bench-workspace-")));
  const workspaces = registry.list().length;
  const sound = await read(ctx);
  llm.registerAdapter(
    ["bench-broken"],
    adapter(async () => {
      throw new Error("the catalogue of bench-broken cannot be read");
    }),
  );
  const broken = await read(ctx);
  return { workspaces, sound, broken };
}

function read(ctx) {
  return new Promise((resolve) => {
    const request = get(`http://127.0.0.1:${ctx.get("webServer").port}/host-pulse.json`, { agent: false, timeout: 5000 }, (response) => {
      let body = "";
      response.on("data", (part) => (body += part));
      response.on("end", () => resolve({ status: response.statusCode, body: body.slice(0, 100_000) }));
    });
    request.on("timeout", () => request.destroy(new Error("no answer within 5 s")));
    request.on("error", (error) => resolve({ status: 0, body: error.message }));
  });
}
