import type { Created } from "./created.ts";

/** A person with an account; what the routes answer with. */
export interface User extends Created {
  readonly id: string;
  email: string;
  name: string;
}

/** What a client says about a user. */
export type UserInput = Omit<User, "id" | keyof Created>;
