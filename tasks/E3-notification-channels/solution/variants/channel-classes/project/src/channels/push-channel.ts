import { post } from "../gateways/http.ts";
import type { User } from "../types/user.ts";
import { type NotificationChannel, required } from "./channel.ts";

export class PushChannel implements NotificationChannel {
  readonly name = "push";

  async deliver(user: User, message: string): Promise<void> {
    await post(process.env.PUSH_GATEWAY_URL, { device: required(user.device, "device"), title: "Notification", body: message });
  }
}
