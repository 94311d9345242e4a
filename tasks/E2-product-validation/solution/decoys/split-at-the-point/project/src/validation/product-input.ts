import { CATEGORIES } from "../types/product.ts";

/** A field of a request that breaks its rule; `body` when the request is no object at all. */
export interface FieldError {
  field: string;
  message: string;
}

type Rule = (value: unknown) => string | null;

const SKU = /^[A-Z]{3}-[0-9]{4,6}$/;
const HIGHEST_PRICE = 99999.99;

const RULES: Record<string, Rule> = {
  name(value) {
    if (typeof value !== "string") return "must be a text";
    if (value.trim() === "") return "must not be empty";
    return value.length <= 100 ? null : "must have at most 100 characters";
  },
  price(value) {
    if (typeof value !== "number") return "must be a number";
    if (!(value >= 0 && value <= HIGHEST_PRICE)) return `must be from 0 to ${HIGHEST_PRICE}`;
    return (String(value).split(".")[1] ?? "").length <= 2 ? null : "must have at most two decimals";
  },
  sku(value) {
    if (typeof value !== "string") return "must be a text";
    return SKU.test(value) ? null : "must be three upper-case letters, a hyphen and four to six digits";
  },
  category(value) {
    return CATEGORIES.some((category) => category === value) ? null : `must be one of ${CATEGORIES.join(", ")}`;
  },
};

/** What is wrong with the body of `POST /products`; empty when nothing is. */
export function productErrors(body: unknown): FieldError[] {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return [{ field: "body", message: "must be a JSON object" }];
  }
  return Object.entries(RULES).flatMap(([field, rule]) => {
    const message = rule((body as Record<string, unknown>)[field]);
    return message === null ? [] : [{ field, message }];
  });
}
