import path from "node:path";
import express, { type NextFunction, type Request, type Response } from "express";
import { productsRouter } from "./routes/products.ts";
import { DuplicateSkuError } from "./services/product-service.ts";

export function createApp() {
  const app = express();
  app.disable("x-powered-by");
  app.use(express.static(path.join(import.meta.dirname, "..", "public")));
  app.use(express.json());
  app.use((error: Error, request: Request, response: Response, next: NextFunction) => {
    if (request.path.startsWith("/products") && error.name === "SyntaxError") {
      response.status(400).json({ errors: [{ field: "body", message: "malformed JSON" }] });
    } else next(error);
  });
  app.use("/products", productsRouter);
  app.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
    if (error instanceof DuplicateSkuError) {
      response.status(409).json({ error: error.message });
      return;
    }
    // What went wrong inside is nobody's business outside.
    console.error(error);
    response.status(500).json({ error: "internal error" });
  });
  return app;
}
