/** How many workspaces the host knows. */
export function countWorkspaces(workspaceRegistry) {
  return workspaceRegistry.list().length;
}
