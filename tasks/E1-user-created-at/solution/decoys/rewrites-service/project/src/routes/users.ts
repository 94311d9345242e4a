import { Router } from "express";
import { UserService } from "../services/user-service.ts";

export const usersRouter = Router();
const users = new UserService();

usersRouter.post("/", async (request, response) => {
  const { email, name } = request.body ?? {};
  if (typeof email !== "string" || typeof name !== "string") {
    response.status(400).json({ error: "email and name are required" });
    return;
  }
  response.status(201).json(await users.create(request.body));
});

usersRouter.get("/", async (_request, response) => {
  response.json(await users.list());
});

usersRouter.get("/:id", async (request, response) => {
  const user = await users.get(request.params.id);
  if (user === undefined) response.status(404).json({ error: "no such user" });
  else response.json(user);
});

usersRouter.patch("/:id", async (request, response) => {
  const user = await users.update(request.params.id, request.body ?? {});
  if (user === undefined) response.status(404).json({ error: "no such user" });
  else response.json(user);
});
