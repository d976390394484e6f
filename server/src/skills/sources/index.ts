/**
 * Sources: the repositories that skills come from.
 *
 * Owns the table `skill_sources`. All sources are on the configured git host and have unique names. Their list has
 * the order in which the library resolves names. The library reads the repositories and stores the results here.
 */
export { sourceRoutes } from './routes.ts'
export { bundledUrl, releaseTagOf, sourceView } from './rules.ts'
export { createSources, type DefaultSource, type Sources } from './service.ts'
export { type SourceRow, sourceStore } from './store.ts'
