/**
 * Library: the skills of all sources, merged into one flat list of names.
 *
 * Owns the table `skill_entries` and how a sync went in `skill_sources`. Promises that a name belongs to the source of
 * the lowest priority, then the oldest, that a sync which fails or finds a moved tag changes nothing, and that a
 * source is synced by one worker at a time. Refuses to know who has a skill.
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
