import type { GitTemplateName } from './git-templates.ts'

/** `github` stands for the configured git host, whatever its address. */
const gitForm = /^github:([A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9_][A-Za-z0-9._-]*?)(?:\.git)?(?:@(.+))?$/

/** Parses `github:owner/repo[@branch]`; null for anything else, which names a local template. */
export function parseTemplateName(templateName: string): GitTemplateName | null {
  const [, repository, branch = null] = gitForm.exec(templateName) ?? []
  return repository === undefined ? null : { repository, branch }
}

/** Adds a branch to a template name that has none. */
export function atBranch(templateName: string, branch: string | null): string {
  const name = parseTemplateName(templateName)
  return name === null || name.branch !== null || branch === null ? templateName : `${templateName}@${branch}`
}
