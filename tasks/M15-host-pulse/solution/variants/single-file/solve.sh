#!/bin/bash
# An independent migration: one file, the services taken from the context of a nested inject.
set -eu
fixture=/app/fixture

rm -r "$fixture/lib/gateway.js" "$fixture/lib/catalogue.js" "$fixture/lib/workspaces.js" "$fixture/test/catalogue.test.js"
cat > "$fixture/index.js" << 'END'
export const name = "host-pulse";
export const inject = { webServer: true };

async function pulse(host) {
  const document = { providers: [], unreachable: [], workspaces: [...host.workspaceRegistry.list()].length };
  for (const route of host.llm.listProviders()) {
    const models = await host.llm.listModels(route.id).catch(() => null);
    if (models) document.providers.push({ id: route.id, name: route.name, models: models.length });
    else document.unreachable.push(route.id);
  }
  return document;
}

export function apply(ctx) {
  ctx.inject(["llm", "workspaceRegistry"], (host) => {
    const answer = (request, response) =>
      pulse(host).then((document) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(document, null, 2));
      });
    host.effect(() => host.webServer.register({ kind: "exact", path: "/host-pulse.json", handler: answer }));
  });
}
END
