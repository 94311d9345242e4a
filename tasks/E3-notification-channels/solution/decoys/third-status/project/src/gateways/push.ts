import { post } from "./http.ts";

export async function sendPush(device: string, text: string): Promise<void> {
  await post(process.env.PUSH_GATEWAY_URL, { device, title: "Notification", body: text });
}
