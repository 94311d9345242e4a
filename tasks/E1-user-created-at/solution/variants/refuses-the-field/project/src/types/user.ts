/** What a client says about a user. */
export interface UserInput {
  email: string;
  name: string;
}

/** A person with an account; what the routes answer with. */
export interface User extends UserInput {
  id: string;
  /** When the user was created; never changes. */
  createdAt: Date;
}
