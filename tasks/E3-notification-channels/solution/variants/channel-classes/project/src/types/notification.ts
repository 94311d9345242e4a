export type Status = "sent" | "failed";

/** A message to a user, and what became of it. */
export interface Notification {
  id: string;
  userId: string;
  message: string;
  status: Status;
  createdAt: string;
  deliveries: { channel: string; status: Status; error?: string }[];
}
