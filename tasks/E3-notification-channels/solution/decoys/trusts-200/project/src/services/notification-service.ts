import { randomUUID } from "node:crypto";
import { channelsFor, deliver } from "../channels.ts";
import type { Channel, Notification } from "../types/notification.ts";
import type { User } from "../types/user.ts";

export class UnknownUserError extends Error {}

export class NotificationService {
  readonly #users: ReadonlyMap<string, User>;
  readonly #notifications: Notification[] = [];

  constructor(users: ReadonlyMap<string, User>) {
    this.#users = users;
  }

  /**
   * Tell a user something, over the channels that are named or that the user chose. A gateway that fails is no exception: the notification says so.
   * @throws UnknownUserError
   */
  async sendNotification(userId: string, message: string, channels?: Channel[]): Promise<Notification> {
    const user = this.#users.get(userId);
    if (user === undefined) throw new UnknownUserError(`no user ${userId}`);
    const createdAt = new Date().toISOString();
    const deliveries = await Promise.all(channelsFor(user, channels).map((channel) => deliver(channel, user, message)));
    const notification: Notification = {
      id: randomUUID(),
      userId,
      message,
      status: deliveries.some((delivery) => delivery.status === "sent") ? "sent" : "failed",
      deliveries,
      createdAt,
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
