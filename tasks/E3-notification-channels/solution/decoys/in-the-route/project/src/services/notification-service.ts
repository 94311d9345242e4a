import { randomUUID } from "node:crypto";
import { sendEmail } from "../gateways/email.ts";
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
  async sendNotification(userId: string, message: string): Promise<Notification> {
    const user = this.#users.get(userId);
    if (user === undefined) throw new UnknownUserError(`no user ${userId}`);
    const notification: Notification = {
      id: randomUUID(),
      userId,
      message,
      status: "sent",
      deliveries: [],
      createdAt: new Date().toISOString(),
    };
    try {
      if (user.email === undefined) throw new Error("no e-mail address");
      await sendEmail(user.email, message);
    } catch {
      notification.status = "failed";
    }
    notification.deliveries.push({ channel: "email", status: notification.status, ...(notification.status === "failed" ? { error: "failed" } : {}) });
    this.#notifications.push(notification);
    return notification;
  }

  add(notification: Notification): void {
    this.#notifications.push(notification);
  }

  user(userId: string): User | undefined {
    return this.#users.get(userId);
  }

  get(id: string): Notification | undefined {
    return this.#notifications.find((notification) => notification.id === id);
  }

  listFor(userId: string): Notification[] {
    return this.#notifications.filter((notification) => notification.userId === userId);
  }
}
