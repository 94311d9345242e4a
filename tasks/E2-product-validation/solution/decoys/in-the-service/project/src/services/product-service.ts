import { randomUUID } from "node:crypto";
import { normaliseSku } from "../lib/sku.ts";
import { ValidationError, productErrors } from "../validation/product-input.ts";
import type { Product, ProductInput } from "../types/product.ts";

export class DuplicateSkuError extends Error {}

const products = new Map<string, Product>();

export function addProduct(input: ProductInput): Product {
  const errors = productErrors(input);
  if (errors.length > 0) throw new ValidationError(errors);
  const sku = normaliseSku(input.sku);
  if (findBySku(sku) !== undefined) throw new DuplicateSkuError(`there is a product ${sku}`);
  const product: Product = {
    id: randomUUID(),
    name: input.name,
    price: input.price,
    sku,
    category: input.category,
  };
  products.set(product.id, product);
  return product;
}

export function getProduct(id: string): Product | undefined {
  return products.get(id);
}

export function findBySku(sku: string): Product | undefined {
  const wanted = normaliseSku(sku);
  return listProducts().find((product) => product.sku === wanted);
}

export function listProducts(): Product[] {
  return [...products.values()];
}
