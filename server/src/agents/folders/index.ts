/**
 * Folders: what an agent publishes to others, and which of them read it.
 *
 * Owns the columns `expose_folder` and `consume_folders` of `agents`. An agent reads the folder of another one
 * when it consumes, the other one exposes, and the permissions matrix lets it call that one; all three are
 * looked up anew at each start, in the database. Promises that nobody is shown a publisher that they do not
 * reach. Refuses to know how a folder gets into a container: lifecycle asks `foldersFor` and mounts.
 */

export { folderRoutes } from './routes.ts'
export { createFolders, createFoldersFor, type Folders } from './service.ts'
