import type { IncomingMessage, ServerResponse } from "node:http";

interface Item {
  id: string;
  name: string;
}

const items: Item[] = [
  { id: "1", name: "lamp" },
  { id: "2", name: "kettle" },
];

export function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === "GET" && request.url === "/items") return json(response, 200, items);
  if (request.method === "GET" && request.url === "/health") return json(response, 200, { status: "ok", items: items.length });
  json(response, 404, { error: "not found" });
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
