import type { GitTemplateName } from './git-templates.ts'

/** The word stands for the one git host, whatever its address is. */
const gitForm = /^github:([A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9_][A-Za-z0-9._-]*?)(?:\.git)?(?:@(.+))?$/

/** `<git host>:owner/repo[@branch]`; null for anything else, which then names a local template. */
export function parseTemplateName(given: string): GitTemplateName | null {
  const [, repository, branch = null] = gitForm.exec(given) ?? []
  return repository === undefined ? null : { repository, branch }
}

/** The same template at another branch than the one that the host shows first. */
export function atBranch(given: string, branch: string | null): string {
  const name = parseTemplateName(given)
  return name === null || name.branch !== null || branch === null ? given : `${given}@${branch}`
}
