import { randomUUID } from "node:crypto";
import type { User, UserInput } from "../types/user.ts";

export class UserService {
  #users = new Map<string, User>();

  async create(input: UserInput): Promise<User> {
    const user: User = { ...input, id: randomUUID(), createdAt: new Date() };
    this.#users.set(user.id, user);
    return user;
  }

  async get(id: string): Promise<User | undefined> {
    return this.#users.get(id);
  }

  async list(): Promise<User[]> {
    return [...this.#users.values()];
  }

  async update(id: string, changes: Partial<UserInput>): Promise<User | undefined> {
    const user = this.#users.get(id);
    if (user === undefined) return undefined;
    const updated: User = { ...user, ...changes, id: user.id, createdAt: user.createdAt };
    this.#users.set(id, updated);
    return updated;
  }
}
