import { randomUUID } from "node:crypto";
import type { User, UserInput } from "../types/user.ts";

interface Row {
  readonly id: string;
  readonly since: number;
  fields: UserInput;
}

const rows: Row[] = [];

export function createUser(input: UserInput): User {
  const row: Row = { id: randomUUID(), since: Date.now(), fields: { ...input } };
  rows.push(row);
  return userOf(row);
}

export function getUser(id: string): User | undefined {
  const row = rows.find((candidate) => candidate.id === id);
  return row && userOf(row);
}

export function listUsers(): User[] {
  return rows.map(userOf);
}

export function updateUser(id: string, changes: Partial<UserInput>): User | undefined {
  const row = rows.find((candidate) => candidate.id === id);
  if (row === undefined) return undefined;
  row.fields = { ...row.fields, ...changes };
  return userOf(row);
}

function userOf({ id, since, fields }: Row): User {
  return { ...fields, id, createdAt: new Date(since) };
}
