import { Router } from "express";
import { createUser, getUser, listUsers, updateUser } from "../services/user-service.ts";

export const usersRouter = Router();

usersRouter.post("/", (request, response) => {
  const { email, name } = request.body ?? {};
  if (typeof email !== "string" || typeof name !== "string") {
    response.status(400).json({ error: "email and name are required" });
    return;
  }
  response.status(201).json({ ...createUser(request.body), createdAt: new Date() });
});

usersRouter.get("/", (_request, response) => {
  response.json(listUsers().map((user) => ({ ...user, createdAt: new Date() })));
});

usersRouter.get("/:id", (request, response) => {
  const user = getUser(request.params.id);
  if (user === undefined) response.status(404).json({ error: "no such user" });
  else response.json({ ...user, createdAt: new Date() });
});

usersRouter.patch("/:id", (request, response) => {
  const user = updateUser(request.params.id, request.body ?? {});
  if (user === undefined) response.status(404).json({ error: "no such user" });
  else response.json(user);
});
