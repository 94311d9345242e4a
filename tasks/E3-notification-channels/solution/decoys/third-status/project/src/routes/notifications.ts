import { Router } from "express";
import { isChannelList } from "../channels.ts";
import { sendReminders } from "../jobs/reminders.ts";
import { type NotificationService, UnknownUserError } from "../services/notification-service.ts";

export function notificationRoutes(service: NotificationService) {
  const router = Router();

  router.post("/notifications", async (request, response) => {
    const { userId, message, channels } = request.body ?? {};
    if (typeof userId !== "string" || typeof message !== "string" || message === "") {
      response.status(400).json({ error: "userId and message are required" });
      return;
    }
    if (channels !== undefined && !isChannelList(channels)) {
      response.status(400).json({ error: "channels must be a list of email, sms or push" });
      return;
    }
    try {
      const notification = await service.sendNotification(userId, message, channels);
      response.status(notification.status === "failed" ? 502 : 201).json(notification);
    } catch (error) {
      if (!(error instanceof UnknownUserError)) throw error;
      response.status(404).json({ error: error.message });
    }
  });

  router.get("/notifications/:id", (request, response) => {
    const notification = service.get(request.params.id);
    if (notification === undefined) response.status(404).json({ error: "no such notification" });
    else response.json(notification);
  });

  router.get("/users/:id/notifications", (request, response) => {
    response.json(service.listFor(request.params.id));
  });

  router.post("/reminders", async (request, response) => {
    const { userIds, message } = request.body ?? {};
    if (!Array.isArray(userIds) || typeof message !== "string") {
      response.status(400).json({ error: "userIds and message are required" });
      return;
    }
    response.json(await sendReminders(service, userIds, message));
  });

  return router;
}
