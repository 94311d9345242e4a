export const CATEGORIES = ["audio", "garden", "kitchen", "office"] as const;

export type Category = (typeof CATEGORIES)[number];

/** What the routes answer with. The web shop and the apps have their own copies of this type. */
export interface Product {
  id: string;
  name: string;
  price: string;
  sku: string;
  category: Category;
}

export type ProductInput = Omit<Product, "id">;
