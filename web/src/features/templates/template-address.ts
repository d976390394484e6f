/** Owner and name of a repository at the git host. */
const pattern = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9_][A-Za-z0-9._-]*$/

/**
 * Reads `owner/repo` from input: the short form, or a web or SSH URL, with or without `.git`. Null for other
 * input. The platform decides which host it belongs to.
 */
export function repositoryOf(text: string): string | null {
  const plain = text
    .trim()
    .replace(/^github:/, '')
    .replace(/^(https?:\/\/[^/]+\/|ssh:\/\/[^/]+\/|git@[^:]+:)/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  return pattern.test(plain) ? plain : null
}

/** The template of a repository. An empty branch means the default branch. */
export function templateNameOf(repository: string, branch: string): string {
  return branch.trim() === '' ? `github:${repository}` : `github:${repository}@${branch.trim()}`
}
