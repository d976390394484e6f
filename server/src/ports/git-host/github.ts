import { z } from 'zod'
import type { Secret } from '../../kit/secret.ts'
import { type Created, type GitHost, GitHostDown, type HostedRepository } from './port.ts'

export type GitHubOptions = {
  /** Base address of the API, without a trailing slash. */
  apiUrl: string
  fetch: typeof fetch
}

const timeoutMs = 30_000
const maxReplyLength = 1024 * 1024

const User = z.object({ login: z.string().min(1).max(200) })
const Repository = z.object({
  default_branch: z.string().min(1).max(200),
  private: z.boolean(),
  permissions: z.object({ push: z.boolean() }).optional(),
})

/** GitHub's API, which other hosts implement too. */
export function createGitHub({ apiUrl, fetch }: GitHubOptions): GitHost {
  async function ask(path: string, token: Secret, body?: object): Promise<{ status: number; json: unknown }> {
    try {
      const reply = await fetch(`${apiUrl}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: {
          authorization: `Bearer ${token.reveal()}`,
          accept: 'application/vnd.github+json',
          'user-agent': 'roost',
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        // Redirects must not send the token to another host.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      const text = await reply.text()
      return { status: reply.status, json: text.length > maxReplyLength ? null : parsed(text) }
    } catch (cause) {
      throw new GitHostDown('The git host cannot be reached.', { cause })
    }
  }

  const unexpected = (status: number) => new GitHostDown(`The git host answered ${status}.`)

  function repositoryOf(status: number, json: unknown): HostedRepository {
    const read = Repository.safeParse(json)
    if (!read.success) throw unexpected(status)
    const { default_branch, permissions } = read.data
    return {
      defaultBranch: default_branch,
      isPrivate: read.data.private,
      mayPush: permissions?.push ?? false,
    }
  }

  async function login(token: Secret): Promise<string | null> {
    const { status, json } = await ask('/user', token)
    if (status === 401 || status === 403) return null
    const user = User.safeParse(json)
    if (status !== 200 || !user.success) throw unexpected(status)
    return user.data.login
  }

  return {
    login,

    async find(repository, token) {
      const { status, json } = await ask(`/repos/${repository}`, token)
      if ([401, 403, 404].includes(status)) return null
      if (status !== 200) throw unexpected(status)
      return repositoryOf(status, json)
    },

    async create({ repository, isPrivate, description }, token): Promise<Created> {
      const [owner = '', name = ''] = repository.split('/')
      const user = await login(token)
      if (user === null) return { ok: false, why: 'refused' }
      const isOwn = user.toLowerCase() === owner.toLowerCase()
      const body = { name, private: isPrivate, ...(description === null ? {} : { description }) }
      const { status, json } = await ask(isOwn ? '/user/repos' : `/orgs/${owner}/repos`, token, body)
      if ([401, 403, 404].includes(status)) return { ok: false, why: 'refused' }
      if (status === 422) return { ok: false, why: 'taken' }
      if (status !== 201) throw unexpected(status)
      return { ok: true, repository: repositoryOf(status, json) }
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // An HTML page is not a response of the API.
    return null
  }
}
