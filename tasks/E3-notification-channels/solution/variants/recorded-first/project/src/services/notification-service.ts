import { randomUUID } from "node:crypto";
import { attempt, checkChannels } from "../delivery.ts";
import type { Notification } from "../types/notification.ts";
import type { User } from "../types/user.ts";

export class UnknownUserError extends Error {}

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
  async sendNotification(userId: string, message: string, channels?: unknown): Promise<Notification> {
    const user = this.#users.get(userId);
    if (user === undefined) throw new UnknownUserError(`no user ${userId}`);
    const own = user.preferences?.channels ?? [];
    const names = channels === undefined ? (own.length > 0 ? checkChannels(own) : ["email"]) : checkChannels(channels);
    const notification: Notification & { deliveries: object[] } = {
      id: randomUUID(),
      userId,
      message,
      status: "failed",
      createdAt: new Date().toISOString(),
      deliveries: [],
    };
    this.#notifications.push(notification);
    const pending = names.map(async (channel) => {
      const error = await attempt(channel, user, message);
      if (error !== null) return { channel, status: "failed", error };
      notification.status = "sent";
      return { channel, status: "sent" };
    });
    notification.deliveries = await Promise.all(pending);
    return notification;
  }

  get(id: string): Notification | undefined {
    return this.#notifications.find((notification) => notification.id === id);
  }

  listFor(userId: string): Notification[] {
    return this.#notifications.filter((notification) => notification.userId === userId);
  }
}
