"""The rules, one module a theme. `registry.all_rules` imports them all."""
