import { Fault } from '../../kit/fault.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Git, GitFailure, GitOutcome, TreeEntry } from '../../ports/git/port.ts'
import { type DescribedTemplate, describeTemplate, nameOf } from './described.ts'
import { type ContentPlan, planContent } from './git-content.ts'
import { maxTemplateBytes } from './parse.ts'

/** A repository's template at one commit. */
export type GitTemplate = DescribedTemplate & {
  repository: string
  branch: string
  commit: string
  content: ContentPlan
}

export type GitReadDeps = {
  git: Pick<Git, 'fetch' | 'defaultBranch' | 'list' | 'read'>
  /** Clone URL of a repository (`owner/repo`) on the git host. */
  addressOf(repository: string): string
}

const fetchSeconds = 60
const maxRepositoryBytes = 200 * 1024 * 1024
const described = { template: 'template.yaml', mcpTemplate: '.mcp.json.template', envExample: '.env.example' }

/** Reads templates from git objects, without a checkout. */
export function createGitRead({ git, addressOf }: GitReadDeps) {
  /**
   * Reads the current content of a branch; null means the host's default branch. The token is sent only if
   * the host refused an anonymous request. Throws `template_unresolvable`, `upstream_error`.
   */
  async function read(
    repository: string,
    branch: string | null,
    token: Secret | null,
    timeoutSeconds = fetchSeconds,
  ): Promise<GitTemplate> {
    const address = addressOf(repository)
    const found = await withToken(token, async (usedToken) => {
      const call = { token: usedToken, timeoutSeconds }
      const name = branch === null ? await git.defaultBranch(address, call) : ok(branch)
      if (!name.ok) return name
      const ref = { kind: 'branch', name: name.value } as const
      const fetched = await git.fetch(address, ref, { ...call, maxBytes: maxRepositoryBytes })
      return fetched.ok ? ok({ branch: name.value, commit: fetched.value.commit }) : fetched
    })
    const { commit, branch: currentBranch } = requireValue(repository, found)
    const entries = requireValue(repository, await git.list(address, commit))
    const content = planContent(entries)
    const texts = await textsOf(repository, entries)
    const id = `github:${repository}`
    return {
      ...describeTemplate({ id, name: nameOf(repository), repository }, texts),
      repository,
      branch: currentBranch,
      commit,
      content,
    }
  }

  async function textsOf(repository: string, entries: readonly TreeEntry[]) {
    const shaOf = (path: string) =>
      entries.find((entry) => entry.path === path && (entry.kind === 'file' || entry.kind === 'executable'))
        ?.sha ?? null
    const shas = Object.values(described).flatMap((path) => shaOf(path) ?? [])
    const read = await git.read(addressOf(repository), shas, { maxBytes: 3 * maxTemplateBytes })
    if (!read.ok && read.fault === 'too_large') {
      throw new Fault(
        'template_unresolvable',
        'template.yaml and its companions are larger than 256 KiB each.',
      )
    }
    const blobs = requireValue(repository, read)
    const textAt = (path: string) => {
      const sha = shaOf(path)
      return sha === null ? null : (blobs.get(sha)?.toString('utf8') ?? null)
    }
    const template = textAt(described.template)
    if (template === null) {
      throw new Fault(
        'template_unresolvable',
        `The repository "${repository}" has no template.yaml in its root folder.`,
      )
    }
    return {
      template,
      mcpTemplate: textAt(described.mcpTemplate),
      envExample: textAt(described.envExample),
    }
  }

  /** The files of one commit, without a request to the host if the cache has it. Throws as `read`. */
  async function contentAt(repository: string, commit: string, token: Secret | null): Promise<ContentPlan> {
    const address = addressOf(repository)
    const cached = await git.list(address, commit)
    if (cached.ok) return planContent(cached.value)
    const fetched = await withToken(token, (usedToken) =>
      git.fetch(
        address,
        { kind: 'commit', name: commit },
        { token: usedToken, timeoutSeconds: fetchSeconds, maxBytes: maxRepositoryBytes },
      ),
    )
    requireValue(repository, fetched)
    return planContent(requireValue(repository, await git.list(address, commit)))
  }

  return { read, contentAt }
}

/** Tries without a token first: public repositories do not need it. */
async function withToken<T>(
  token: Secret | null,
  call: (token: string | null) => Promise<GitOutcome<T>>,
): Promise<GitOutcome<T>> {
  const open = await call(null)
  if (open.ok || open.fault !== 'not_found' || token === null) return open
  return call(token.reveal())
}

function ok<T>(value: T): GitOutcome<T> {
  return { ok: true, value }
}

/** The value; throws the fault for any failure. */
export function requireValue<T>(repository: string, outcome: GitOutcome<T>): T {
  if (outcome.ok) return outcome.value
  throw faultOf(repository, outcome)
}

function faultOf(repository: string, { fault, message }: GitFailure): Fault {
  if (fault === 'unreachable' || fault === 'timeout') return new Fault('upstream_error', message)
  return new Fault('template_unresolvable', `The repository "${repository}": ${message}`)
}
