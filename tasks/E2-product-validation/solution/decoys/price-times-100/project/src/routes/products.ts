import { Router } from "express";
import { addProduct, findBySku, getProduct, listProducts } from "../services/product-service.ts";
import { productErrors } from "../validation/product-input.ts";

export const productsRouter = Router();

productsRouter.post("/", (request, response) => {
  const errors = productErrors(request.body);
  if (errors.length > 0) {
    response.status(400).json({ errors });
    return;
  }
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
