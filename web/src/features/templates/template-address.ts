/** Owner and name of a repository, as the git host has them. */
const pattern = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9_][A-Za-z0-9._-]*$/

/**
 * `owner/repo` of what was typed or pasted: that itself, an address on the web or for SSH, with or without
 * `.git`. Null for what is none; the platform decides on which host it is looked for.
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

/** What an agent is made from. An empty branch is the one that the host shows first. */
export function templateNameOf(repository: string, branch: string): string {
  return branch.trim() === '' ? `github:${repository}` : `github:${repository}@${branch.trim()}`
}
