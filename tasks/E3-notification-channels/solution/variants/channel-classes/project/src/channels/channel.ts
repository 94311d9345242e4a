import type { User } from "../types/user.ts";

/** A way to a user. `deliver` rejects when the message did not get through. */
export interface NotificationChannel {
  readonly name: string;
  deliver(user: User, message: string): Promise<void>;
}

export class UndeliverableError extends Error {}

export function required(address: string | undefined, kind: string): string {
  if (address === undefined || address === "") throw new UndeliverableError(`no ${kind}`);
  return address;
}
