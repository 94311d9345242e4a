import type { NotificationService } from "../services/notification-service.ts";

/** Remind users of something. @returns how many were reached, and how many were not */
export async function sendReminders(service: NotificationService, userIds: string[], message: string) {
  const counts = { sent: 0, failed: 0 };
  for (const userId of userIds) {
    const notification = await service.sendNotification({ userId, message: `Reminder: ${message}` });
    if (notification.status === "sent") counts.sent += 1;
    else counts.failed += 1;
  }
  return counts;
}
