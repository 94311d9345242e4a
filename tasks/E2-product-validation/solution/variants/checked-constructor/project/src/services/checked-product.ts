import { toCents } from "../lib/money.ts";
import { CATEGORIES, type ProductInput } from "../types/product.ts";

/** A request that is no product; `errors` says why, by field. */
export class BadRequest extends Error {
  readonly errors: { field: string; message: string }[];

  constructor(errors: { field: string; message: string }[]) {
    super("bad request");
    this.errors = errors;
  }
}

export function checkedProduct(body: unknown): ProductInput {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new BadRequest([{ field: "body", message: "not an object" }]);
  }
  const { name, price, sku, category } = body as Record<string, unknown>;
  const errors: { field: string; message: string }[] = [];
  const refuse = (field: string, message: string) => errors.push({ field, message });

  if (typeof name !== "string" || name.trim().length === 0 || name.length > 100) refuse("name", "1 to 100 characters");
  if (typeof price !== "number") refuse("price", "not a number");
  else if (price < 0 || price > 99999.99 || toCents(price) / 100 !== price) refuse("price", "0 to 99999.99, whole cents");
  if (typeof sku !== "string" || !/^[A-Z][A-Z][A-Z]-\d\d\d\d\d?\d?$/.test(sku)) refuse("sku", "AAA-0000");
  if (!(CATEGORIES as readonly unknown[]).includes(category)) refuse("category", "unknown");

  if (errors.length > 0) throw new BadRequest(errors);
  return { name, price, sku, category } as ProductInput;
}
