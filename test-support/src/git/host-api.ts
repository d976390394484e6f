/** The part of a git host's API that the platform uses, backed by the test host's repositories. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export type HostApiDeps = {
  /** Returns null when the repository does not exist. */
  find(repository: string): Promise<{ defaultBranch: string } | null>
  create(repository: string): Promise<void>
}

/**
 * Every token except those starting with `bad` belongs to `acme`. Tokens starting with `read-` cannot write.
 */
const loginOf = (token: string) => (token.startsWith('bad') ? null : 'acme')

export function createHostApi({ find, create }: HostApiDeps) {
  const privates = new Set<string>()

  async function viewOf(repository: string, token: string) {
    const found = await find(repository)
    return (
      found && {
        full_name: repository,
        private: privates.has(repository),
        default_branch: found.defaultBranch,
        permissions: { pull: true, push: !token.startsWith('read-') },
      }
    )
  }

  async function createRepository(
    owner: string,
    request: IncomingMessage,
    token: string,
  ): Promise<[number, unknown]> {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>)
    const input = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { name: string; private: boolean }
    const repository = `${owner}/${input.name}`
    if (token.startsWith('read-')) return [403, { message: 'Forbidden' }]
    if (await find(repository)) return [422, { message: 'name already exists on this account' }]
    await create(repository)
    if (input.private) privates.add(repository)
    return [201, await viewOf(repository, token)]
  }

  async function reply(request: IncomingMessage): Promise<[number, unknown]> {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? 'bad'
    const login = loginOf(token)
    if (login === null) return [401, { message: 'Bad credentials' }]
    const path = (request.url ?? '').replace('/api/v3', '')
    if (path === '/user') return [200, { login }]
    if (request.method === 'POST') {
      const [, org] = /^\/orgs\/([^/]+)\/repos$/.exec(path) ?? []
      return createRepository(org ?? login, request, token)
    }
    const [, repository = ''] = /^\/repos\/([^/]+\/[^/]+)$/.exec(path) ?? []
    const found = await viewOf(repository, token)
    return found ? [200, found] : [404, { message: 'Not Found' }]
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [status, body] = await reply(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
}
