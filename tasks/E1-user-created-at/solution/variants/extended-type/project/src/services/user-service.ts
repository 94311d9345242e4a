import { randomUUID } from "node:crypto";
import type { User, UserInput } from "../types/user.ts";

const users = new Map<string, User>();
const created = () => ({ createdAt: new Date() });

// Decision (2024-03, mobile team): fields are stored as the client sends them, also those that we do not know,
// so that a client can add one without a release of this service.
export function createUser(input: UserInput): User {
  const user: User = { ...input, id: randomUUID(), ...created() };
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
  const { id: _id, createdAt: _createdAt, ...rest } = changes as Partial<User>;
  const updated: User = { ...user, ...rest };
  users.set(id, updated);
  return updated;
}
