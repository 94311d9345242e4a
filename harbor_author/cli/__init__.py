"""One module a command: parse, call, print. No logic, and nothing imports this room."""
