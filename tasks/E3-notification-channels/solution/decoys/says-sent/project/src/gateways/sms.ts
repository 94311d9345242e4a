import { GatewayError, post } from "./http.ts";

/** This gateway answers 200 to what it refuses, too. */
export async function sendSms(to: string, text: string): Promise<void> {
  const answer = await post(process.env.SMS_GATEWAY_URL, { to, text });
  if (answer?.accepted !== true) throw new GatewayError(`the SMS was not accepted: ${answer?.reason ?? "no reason given"}`);
}
