import { randomUUID } from "node:crypto";
import type { User, UserInput } from "../types/user.ts";

const users = new Map<string, User>();

// Decision (2024-03, mobile team): fields are stored as the client sends them, also those that we do not know,
// so that a client can add one without a release of this service.
export function createUser(input: UserInput): User {
  const user: User = { ...input, id: randomUUID(), createdAt: new Date() };
  users.set(user.id, user);
  return user;
}

export function getUser(id: string): User | undefined {
  return users.get(id);
}

export function listUsers(): User[] {
  return [...users.values()];
}

export function updateUser(id: string, changes: Partial<UserInput>): User | undefined {
  const user = users.get(id);
  if (user === undefined) return undefined;
  const updated: User = { ...user, ...changes, id: user.id };
  users.set(id, updated);
  return updated;
}
