#!/bin/bash
# A bypass: the host half writes a script tag into the page and serves the bundle itself.
set -eu
fixture=/app/fixture

cat > "$fixture/.dsh-plugin/host.js" << 'END'
import { readFileSync } from "node:fs";
import { listNotes } from "./notes.js";

export const name = "review-notes";
export const inject = ["webServer"];

export function apply(ctx) {
  const serve = (path, type, body) =>
    ctx.effect(() =>
      ctx.webServer.register({
        kind: "exact",
        path,
        handler: (request, response) => {
          response.writeHead(200, { "content-type": type });
          response.end(body());
        },
      }),
    );
  serve("/review-notes/notes.json", "application/json", () => JSON.stringify({ notes: listNotes() }));
  serve("/review-notes/client.js", "text/javascript", () => readFileSync(new URL("../dist/client.js", import.meta.url)));
  ctx.effect(() => ctx.webServer.tapIndex((html) => html.replace("</head>", '<script src="/review-notes/client.js" defer></script></head>')));
}
END
