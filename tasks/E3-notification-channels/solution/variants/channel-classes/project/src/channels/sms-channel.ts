import { post } from "../gateways/http.ts";
import type { User } from "../types/user.ts";
import { type NotificationChannel, UndeliverableError, required } from "./channel.ts";

export class SmsChannel implements NotificationChannel {
  readonly name = "sms";

  async deliver(user: User, message: string): Promise<void> {
    const body = { to: required(user.phone, "phone number"), text: message };
    const { accepted, reason } = (await post(process.env.SMS_GATEWAY_URL, body)) ?? {};
    if (!accepted) throw new UndeliverableError(String(reason));
  }
}
