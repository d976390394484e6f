/**
 * Folders: the folder an agent publishes, and the agents that mount it.
 *
 * Owns the columns `expose_folder` and `consume_folders` of `agents`. An agent mounts the folder of another
 * one if it consumes, the other one exposes, and the permissions matrix lets it call that one. All three are
 * read from the database at each start. Viewers see only publishers that they can access. Lifecycle does the
 * mounting.
 */

export { folderRoutes } from './routes.ts'
export { createFolders, createFoldersFor, type Folders } from './service.ts'
