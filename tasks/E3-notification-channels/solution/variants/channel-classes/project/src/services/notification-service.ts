import { randomUUID } from "node:crypto";
import type { NotificationChannel } from "../channels/channel.ts";
import { EmailChannel } from "../channels/email-channel.ts";
import { PushChannel } from "../channels/push-channel.ts";
import { SmsChannel } from "../channels/sms-channel.ts";
import type { Notification } from "../types/notification.ts";
import type { User } from "../types/user.ts";

export class UnknownUserError extends Error {}

const ALL: NotificationChannel[] = [new EmailChannel(), new SmsChannel(), new PushChannel()];
const CHANNELS = new Map(ALL.map((channel) => [channel.name, channel]));

export interface SendOptions {
  channels?: string[];
}

export class NotificationService {
  readonly #users: ReadonlyMap<string, User>;
  readonly #notifications: Notification[] = [];

  constructor(users: ReadonlyMap<string, User>) {
    this.#users = users;
  }

  /**
   * Tell a user something. A gateway that fails is no exception: the notification says so.
   * @throws UnknownUserError
   */
  async sendNotification(userId: string, message: string, options: SendOptions = {}): Promise<Notification> {
    const user = this.#users.get(userId);
    if (user === undefined) throw new UnknownUserError(`no user ${userId}`);
    const chosen = user.preferences?.channels?.length ? user.preferences.channels : ["email"];
    const names = [...new Set(options.channels ?? chosen)];
    const results = await Promise.allSettled(names.map((name) => CHANNELS.get(name)!.deliver(user, message)));
    const notification: Notification = {
      id: randomUUID(),
      userId,
      message,
      status: results.some((result) => result.status === "fulfilled") ? "sent" : "failed",
      createdAt: new Date().toISOString(),
      deliveries: results.map((result, index) =>
        result.status === "fulfilled"
          ? { channel: names[index]!, status: "sent" }
          : { channel: names[index]!, status: "failed", error: String(result.reason) },
      ),
    };
    this.#notifications.push(notification);
    return notification;
  }

  get(id: string): Notification | undefined {
    return this.#notifications.find((notification) => notification.id === id);
  }

  listFor(userId: string): Notification[] {
    return this.#notifications.filter((notification) => notification.userId === userId);
  }
}
