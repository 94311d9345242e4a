export const CHANNELS = ["email", "sms", "push"] as const;

export type Channel = (typeof CHANNELS)[number];

export type Status = "sent" | "failed";

/** What became of a message on one channel; `error` says why it failed. */
export interface Delivery {
  channel: Channel;
  status: Status;
  error?: string;
}

/** A message to a user, and what became of it: sent when at least one channel got through. */
export interface Notification {
  id: string;
  userId: string;
  message: string;
  status: Status;
  deliveries: Delivery[];
  createdAt: string;
}
