import { post } from "./http.ts";

export async function sendSms(to: string, text: string): Promise<void> {
  await post(process.env.SMS_GATEWAY_URL, { to, text });
}
