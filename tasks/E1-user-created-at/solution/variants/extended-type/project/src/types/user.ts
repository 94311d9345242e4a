import type { Created } from "./created.ts";

/** What a client says about a user. */
export interface UserInput {
  email: string;
  name: string;
}

/** A person with an account; what the routes answer with. */
export interface User extends UserInput, Created {
  readonly id: string;
}
