import { type Client, createClient } from '@roost/contracts/client'
import { UsageError } from '../command.ts'
import { CommandFailed, exitCodes } from './exit.ts'
import { readServers, serversPath } from './servers.ts'

export type Connection = { url: string; key: string; api: Client }

export const defaultAddress = 'http://localhost:8000'

/** An address as somebody types it. Throws `UsageError`. */
export function addressOf(text: string): string {
  const withScheme = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(withScheme) ? new URL(withScheme) : null
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${JSON.stringify(text)} is not an address.`)
  }
  // Not shown: it may hold a password.
  if (url.username || url.password) throw new UsageError('The address must not hold a user name or password.')
  return withScheme.replace(/\/+$/, '')
}

/** A key as somebody pasted it. The message of a refusal does not show it. */
export function keyOf(text: string): string {
  const key = text.trim()
  if (/^[\x21-\x7e]+$/.test(key)) return key
  const why = key === '' ? 'No key was given.' : 'This is not a key: a key is one word.'
  throw new CommandFailed(why, exitCodes.denied)
}

/**
 * The platform to talk to and the key for it: `ROOST_URL` with `ROOST_KEY`, else the server named on the
 * command line, else the one at `ROOST_URL`, else the one that was signed in to last.
 */
export async function connect(name: string | undefined, env = process.env): Promise<Connection> {
  const found = env.ROOST_KEY && name === undefined ? fromEnvironment(env) : await fromFile(name, env)
  return { ...found, api: createClient(found.url, found.key) }
}

function fromEnvironment({ ROOST_URL, ROOST_KEY = '' }: NodeJS.ProcessEnv): { url: string; key: string } {
  return { url: ROOST_URL ? addressOf(ROOST_URL) : defaultAddress, key: keyOf(ROOST_KEY) }
}

async function fromFile(
  name: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<{ url: string; key: string }> {
  const { current, servers } = await readServers(serversPath(env))
  if (name === undefined && env.ROOST_URL) return serverAt(addressOf(env.ROOST_URL), Object.values(servers))
  const chosen = name ?? current
  const server = chosen === null ? undefined : servers[chosen]
  if (server) return server
  if (name !== undefined) {
    const known = Object.keys(servers).join(', ') || 'none'
    throw new CommandFailed(`There is no server ${JSON.stringify(name)}. Known: ${known}.`, exitCodes.denied)
  }
  throw new CommandFailed('Not signed in. `roost login` does that.', exitCodes.denied)
}

/** Somebody who names a platform is never answered by another one. */
function serverAt(url: string, servers: readonly { url: string; key: string }[]) {
  const server = servers.find((each) => each.url === url)
  if (server) return server
  const message = `Not signed in to ${url}. \`roost login ${url}\` does that, or ROOST_KEY beside ROOST_URL.`
  throw new CommandFailed(message, exitCodes.denied)
}
