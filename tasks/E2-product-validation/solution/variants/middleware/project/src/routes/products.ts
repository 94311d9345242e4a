import { Router } from "express";
import { validateProduct } from "../middleware/validate.ts";
import { addProduct, findBySku, getProduct, listProducts } from "../services/product-service.ts";

export const productsRouter = Router();

productsRouter.post("/", validateProduct, (request, response) => {
  response.status(201).json(addProduct(request.body));
});

productsRouter.get("/", (_request, response) => {
  response.json(listProducts());
});

productsRouter.get("/by-sku/:sku", (request, response) => {
  const product = findBySku(request.params.sku);
  if (product === undefined) response.status(404).json({ error: "no such product" });
  else response.json(product);
});

productsRouter.get("/:id", (request, response) => {
  const product = getProduct(request.params.id);
  if (product === undefined) response.status(404).json({ error: "no such product" });
  else response.json(product);
});
