import { Router } from "express";
import { CATEGORIES } from "../types/product.ts";
import { addProduct, findBySku, getProduct, listProducts } from "../services/product-service.ts";

export const productsRouter = Router();

productsRouter.post("/", (request, response) => {
  const body = request.body;
  if (Object.prototype.toString.call(body) !== "[object Object]") {
    response.status(400).json({ errors: [{ field: "body", message: "JSON object expected" }] });
    return;
  }
  const errors = [];
  if (typeof body.name !== "string" || !body.name.trim() || body.name.length > 100) {
    errors.push({ field: "name", message: "invalid name" });
  }
  const decimals = /^(\d{1,5})(\.\d\d?)?$/;
  if (typeof body.price !== "number" || !decimals.test(body.price.toString())) {
    errors.push({ field: "price", message: "invalid price" });
  }
  if (typeof body.sku !== "string" || body.sku.length > 10 || !/^[A-Z]{3}-[0-9]{4,}$/.test(body.sku)) {
    errors.push({ field: "sku", message: "invalid SKU" });
  }
  if (!CATEGORIES.includes(body.category)) errors.push({ field: "category", message: "invalid category" });
  if (errors.length > 0) response.status(400).json({ errors });
  else response.status(201).json(addProduct(body));
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
