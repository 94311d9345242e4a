import assert from "node:assert/strict";
import test from "node:test";
import { readCatalogue } from "../lib/catalogue.js";

test("counts the models of each provider", async () => {
  const llm = {
    listProviders: () => [{ id: "a", name: "A" }, { id: "b", name: "B" }],
    listModels: async (id) => {
      if (id === "b") throw new Error("no route");
      return [{ id: "m" }, { id: "n" }];
    },
  };
  assert.deepEqual(await readCatalogue(llm), {
    providers: [{ id: "a", name: "A", models: 2 }],
    unreachable: ["b"],
  });
});
