import type { ErrorRequestHandler, RequestHandler } from "express";
import { CATEGORIES } from "../types/product.ts";

interface Check {
  readonly field: string;
  readonly message: string;
  holds(value: any): boolean;
}

const categories = new Set<unknown>(CATEGORIES);

const CHECKS: readonly Check[] = [
  { field: "name", message: "text of 1 to 100 characters", holds: (v) => typeof v === "string" && /\S/.test(v) && v.length <= 100 },
  { field: "price", message: "a number", holds: Number.isFinite },
  { field: "price", message: "from 0 to 99999.99", holds: (v) => v >= 0 && v < 100_000 },
  { field: "price", message: "two decimals at most", holds: (v) => typeof v !== "number" || Number(v.toFixed(2)) === v },
  { field: "sku", message: "like LMP-0042", holds: (v) => typeof v === "string" && v.match(/^[A-Z]{3}-\d{4,6}$/) !== null },
  { field: "category", message: [...categories].join(" | "), holds: (v) => categories.has(v) },
];

export const validateProduct: RequestHandler = (request, response, next) => {
  const { body } = request;
  const errors =
    body?.constructor === Object
      ? CHECKS.filter((check) => !check.holds(body[check.field])).map(({ field, message }) => ({ field, message }))
      : [{ field: "body", message: "a JSON object" }];
  if (errors.length === 0) next();
  else response.status(400).json({ errors });
};

export const malformedBody: ErrorRequestHandler = (error, _request, response, next) => {
  if (error.type === "entity.parse.failed") response.status(400).json({ errors: [{ field: "body", message: error.message }] });
  else next(error);
};
