import { sendEmail } from "../gateways/email.ts";
import type { User } from "../types/user.ts";
import { type NotificationChannel, required } from "./channel.ts";

export class EmailChannel implements NotificationChannel {
  readonly name = "email";

  async deliver(user: User, message: string): Promise<void> {
    await sendEmail(required(user.email, "e-mail address"), message);
  }
}
