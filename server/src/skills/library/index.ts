/**
 * Library: the skills of all sources, merged into one flat list of names.
 *
 * Owns the table `skill_entries` and the sync results in `skill_sources`. A name belongs to the source with the lowest
 * priority value, then to the oldest. A failed sync or a moved tag changes nothing. One worker at a time syncs a
 * source.
 */
export { readFrontmatter, type SkillFacts } from './frontmatter.ts'
export { libraryRoutes } from './routes.ts'
export type { Package } from './rules.ts'
export {
  createLibrary,
  type Library,
  type LibraryDeps,
  type LibrarySkill,
  requireSkillName,
} from './service.ts'
