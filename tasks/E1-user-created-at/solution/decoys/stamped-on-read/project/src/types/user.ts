/** A person with an account; what the routes answer with. */
export interface User {
  id: string;
  email: string;
  name: string;
  /** When the user was created; never changes. */
  createdAt: Date;
}

/** What a client says about a user: all but the ID and the time of creation, which are ours. */
export type UserInput = Omit<User, "id" | "createdAt">;
