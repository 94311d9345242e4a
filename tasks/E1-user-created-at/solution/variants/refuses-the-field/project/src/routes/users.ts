import { Router } from "express";
import { createUser, getUser, listUsers, updateUser } from "../services/user-service.ts";

export const usersRouter = Router();

usersRouter.post("/", (request, response) => {
  const { email, name } = request.body ?? {};
  if (typeof email !== "string" || typeof name !== "string") {
    response.status(400).json({ error: "email and name are required" });
    return;
  }
  if ("createdAt" in request.body) {
    response.status(400).json({ error: "createdAt is ours" });
    return;
  }
  response.status(201).json(createUser(request.body));
});

usersRouter.get("/", (_request, response) => {
  response.json(listUsers());
});

usersRouter.get("/:id", (request, response) => {
  const user = getUser(request.params.id);
  if (user === undefined) response.status(404).json({ error: "no such user" });
  else response.json(user);
});

usersRouter.patch("/:id", (request, response) => {
  if (request.body?.createdAt !== undefined) {
    response.status(400).json({ error: "createdAt is ours" });
    return;
  }
  const user = updateUser(request.params.id, request.body ?? {});
  if (user === undefined) response.status(404).json({ error: "no such user" });
  else response.json(user);
});
