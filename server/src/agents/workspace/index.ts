/**
 * Workspace: an agent's files in people's hands: tree, save, delete, download, preview.
 *
 * Owns the rules of paths and of what is protected. Promises that nothing outside the workspace is reached, and
 * that a browser runs nothing it is shown. The files themselves are handled by the agent's program, over its
 * link.
 */
export { disposition, safeHeaders } from './content.ts'
export { workspaceRoutes } from './routes.ts'
export { createWorkspace, type Workspace } from './service.ts'
