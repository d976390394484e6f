/**
 * Workspace: an agent's files for people: tree, save, delete, download, preview.
 *
 * Owns the rules for paths and protected files. Nothing outside the workspace is accessible, and browsers
 * never run its content. The agent's program does the file operations over its link.
 */
export { disposition, inlineType, safeHeaders } from './content.ts'
export { formatPath, ownsSecrets, rejectPack, rejectRead, resolvePath } from './paths.ts'
export { workspaceRoutes } from './routes.ts'
export { createWorkspace, type Workspace } from './service.ts'
