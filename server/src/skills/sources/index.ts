/**
 * Sources: the repositories that skills come from.
 *
 * Owns the table `skill_sources`. Promises that a source lies on the one git host, that names are told apart, and
 * that the order in which it lists them is the one in which the library resolves names. Refuses to know what a
 * repository holds: the library reads it, and writes here how that went.
 */
export { sourceRoutes } from './routes.ts'
export { bundledUrl, releaseTagOf, toldSource } from './rules.ts'
export { createSources, type DefaultSource, type Sources } from './service.ts'
export { type SourceRow, sourceStore } from './store.ts'
