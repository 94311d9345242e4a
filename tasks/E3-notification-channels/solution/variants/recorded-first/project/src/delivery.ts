import { post } from "./gateways/http.ts";
import type { User } from "./types/user.ts";

type Request = [url: string | undefined, body: object] | string;

/** For each channel, the request to its gateway, or why there can be none. */
const requests: Record<string, (user: User, text: string) => Request> = {
  __proto__: null as never,
  email: ({ email: to }, text) => (to ? [process.env.EMAIL_GATEWAY_URL, { to, subject: "Notification", text }] : "no e-mail address"),
  sms: ({ phone: to }, text) => (to ? [process.env.SMS_GATEWAY_URL, { to, text }] : "no phone number"),
  push: ({ device }, body) => (device ? [process.env.PUSH_GATEWAY_URL, { device, title: "Notification", body }] : "no device"),
};

export class BadChannelsError extends Error {}

export function checkChannels(channels: unknown): string[] {
  if (!Array.isArray(channels)) throw new BadChannelsError("channels is no list");
  if (channels.length === 0) throw new BadChannelsError("channels is empty");
  for (const name of channels) {
    if (typeof name !== "string" || !(name in requests)) throw new BadChannelsError(`no such channel: ${name}`);
  }
  return channels.filter((name, index) => channels.indexOf(name) === index);
}

/** @returns why it failed, or null */
export async function attempt(channel: string, user: User, text: string): Promise<string | null> {
  const request = requests[channel]!(user, text);
  if (typeof request === "string") return request;
  return post(...request).then(
    (answer) => (answer?.accepted === false ? `refused: ${answer.reason}` : null),
    (error: Error) => error.message,
  );
}
