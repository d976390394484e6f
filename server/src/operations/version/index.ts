/**
 * Version: which build of the platform runs.
 *
 * Owns no table. Reads the files around the code and their repository once, at the start. Promises that missing
 * git data does not fail a request: the fields are then `unknown`.
 */
export { versionRoutes } from './routes.ts'
export { type BuildInfo, type BuildRecord, buildFile, buildRecord, readBuildInfo } from './service.ts'
