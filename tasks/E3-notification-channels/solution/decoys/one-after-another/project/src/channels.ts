import { sendEmail } from "./gateways/email.ts";
import { sendPush } from "./gateways/push.ts";
import { sendSms } from "./gateways/sms.ts";
import { CHANNELS, type Channel, type Delivery } from "./types/notification.ts";
import type { User } from "./types/user.ts";

const SENDERS: Record<Channel, { address: "email" | "phone" | "device"; send(to: string, text: string): Promise<void> }> = {
  email: { address: "email", send: sendEmail },
  sms: { address: "phone", send: sendSms },
  push: { address: "device", send: sendPush },
};

export function isChannelList(value: unknown): value is Channel[] {
  return Array.isArray(value) && value.length > 0 && value.every((name) => CHANNELS.includes(name));
}

/** The channels for a user: those that were asked for, else the user's own choice, else e-mail; each once. */
export function channelsFor(user: User, asked?: readonly Channel[]): Channel[] {
  if (asked !== undefined) return [...new Set(asked)];
  const chosen = (user.preferences?.channels ?? []).filter((name) => isChannelList([name]));
  return chosen.length > 0 ? [...new Set(chosen as Channel[])] : ["email"];
}

/** Send one message over one channel. What goes wrong is in the delivery, never an exception. */
export async function deliver(channel: Channel, user: User, text: string): Promise<Delivery> {
  const { address, send } = SENDERS[channel];
  try {
    const to = user[address];
    if (!to) throw new Error(`the user has no ${address}`);
    await send(to, text);
    return { channel, status: "sent" };
  } catch (error) {
    return { channel, status: "failed", error: (error as Error).message };
  }
}
