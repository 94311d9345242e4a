import { readCatalogue } from "./lib/catalogue.js";
import { countWorkspaces } from "./lib/workspaces.js";
import { stamp } from "./lib/format.js";

export const name = "host-pulse";

// Each domain by its own service; see docs/decisions/0008-domain-services.md.
export const inject = ["llm", "workspaceRegistry", "webServer"];

export function apply(ctx) {
  ctx.effect(() =>
    ctx.webServer.register({
      kind: "exact",
      path: "/host-pulse.json",
      handler: async (request, response) => {
        const { providers, unreachable } = await readCatalogue(ctx.llm);
        const workspaces = countWorkspaces(ctx.workspaceRegistry);
        response.writeHead(200, { "content-type": "application/json", "last-modified": stamp(new Date()) });
        response.end(JSON.stringify({ providers, unreachable, workspaces }));
      },
    }),
  );
}
