/** Callers of the requests: mostly an admin, sometimes a key, an invalid token or none. */
import { adminPassword, type Platform } from '../../acceptance/platform.ts'
import type { Operation } from '../document.ts'
import type { Random } from './random.ts'
import type { Received } from './replies.ts'
import type { Manner } from './requests.ts'
import type { Things } from './things.ts'

export type Caller = { name: string; token: string | null }

/** Sessions for the time after a request ended the one in use. */
const spareSessions = 8

/** `agentKeys`: by the name of their agent. */
export async function createCallers(
  platform: Platform,
  { random, things, agentKeys }: { random: Random; things: Things; agentKeys: ReadonlyMap<string, string> },
) {
  const signIn = async (): Promise<string> => {
    const reply = await fetch(`${platform.url}/api/token`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'admin', password: adminPassword }),
    })
    const { access_token } = (await reply.json()) as { access_token?: string }
    if (!access_token) throw new Error(`The admin cannot sign in any more: ${reply.status}`)
    return access_token
  }
  const sessions: string[] = []
  for (let count = 0; count < spareSessions; count += 1) sessions.push(await signIn())
  const mint = async (path: string, body: object): Promise<string> =>
    (await platform.request('POST', path, body)).json.key
  const keys = [
    ...agentKeys.values(),
    await mint('/api/mcp/keys', { name: 'user' }),
    await mint('/api/mcp/keys', { name: 'ops', scope: 'ops' }),
    await mint('/api/agents/alpha/connector/key', {}),
  ]
  const internal = { name: 'the platform', token: await platform.internalSecret() }

  return {
    /** Returns a session of the admin. Throws when the admin can no longer sign in. */
    async session(): Promise<string> {
      const reply = await platform.request('GET', '/api/users/me', undefined, { token: sessions[0] ?? null })
      if (reply.status === 200 && sessions[0]) return sessions[0]
      sessions.splice(0, 1)
      if (sessions.length === 0) sessions.push(await signIn())
      return this.session()
    },
    choose({ id, path, responses }: Operation, manner: Manner, params: Record<string, string>): Caller {
      // It ends the session that calls.
      const ending = id === 'logout' && sessions.length > 2 ? sessions.pop() : null
      const admin = { name: 'admin', token: (id === 'logout' ? ending : sessions[0]) ?? null }
      const usual = isInternal(path) ? internal : admin
      const own = agentKeys.get(params.name ?? '')
      const isForAgents = responses[403]?.description.includes('agent_identity_required')
      if (own && isForAgents && random.chance(0.7)) return { name: 'its agent', token: own }
      if (manner === 'fitting' || random.chance(0.7)) return usual
      const all: Caller[] = [
        { name: 'nobody', token: null },
        { name: 'random text', token: 'no.token.ofours' },
        ...[...keys, ...things.keys()].map((token) => ({ name: `key ${token.slice(0, 12)}`, token })),
      ]
      return random.pick(all)
    },
    /** Takes another session when this one has ended. */
    async heed({ name, token }: Caller, { status, text }: Received): Promise<void> {
      const hasEnded = name === 'admin' && status === 401 && text.includes('"invalid_token"')
      if (hasEnded && sessions[0] === token) await this.session()
    },
  }
}

/** True for a path of the internal listener. */
export function isInternal(path: string): boolean {
  return path.startsWith('/api/internal/') || path === '/metrics'
}
