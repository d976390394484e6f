import { type Client, createClient } from '@roost/contracts/client'
import { UsageError } from '../command.ts'
import { CommandFailed, exitCodes } from './exit.ts'
import { readServers, serversPath } from './servers.ts'

export type Connection = { url: string; key: string; api: Client }

export const defaultAddress = 'http://localhost:8000'

/** Parses an address as a user types it; `http://` is the default scheme. Throws `UsageError`. */
export function parseAddress(text: string): string {
  const withScheme = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(withScheme) ? new URL(withScheme) : null
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${JSON.stringify(text)} is not a valid http or https address.`)
  }
  // The message leaves the address out, because it may contain a password.
  if (url.username || url.password)
    throw new UsageError('The address must not contain a user name or password.')
  return withScheme.replace(/\/+$/, '')
}

/** Trims and checks a key as a user pastes it. Throws `CommandFailed`; its message never shows the key. */
export function parseKey(text: string): string {
  const key = text.trim()
  if (/^[\x21-\x7e]+$/.test(key)) return key
  const reason =
    key === '' ? 'The key is empty.' : 'The key is invalid: it must be one word of ASCII characters.'
  throw new CommandFailed(reason, exitCodes.denied)
}

/**
 * Selects the platform and the key for it: the server named on the command line, else `ROOST_KEY` with `ROOST_URL`
 * or the default address, else the stored server at `ROOST_URL`, else the current one.
 */
export async function connect(name: string | undefined, env = process.env): Promise<Connection> {
  const target = env.ROOST_KEY && name === undefined ? fromEnvironment(env) : await fromFile(name, env)
  return { ...target, api: createClient(target.url, target.key) }
}

function fromEnvironment({ ROOST_URL, ROOST_KEY = '' }: NodeJS.ProcessEnv): { url: string; key: string } {
  return { url: ROOST_URL ? parseAddress(ROOST_URL) : defaultAddress, key: parseKey(ROOST_KEY) }
}

async function fromFile(
  name: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<{ url: string; key: string }> {
  const { current, servers } = await readServers(serversPath(env))
  if (name === undefined && env.ROOST_URL)
    return serverAt(parseAddress(env.ROOST_URL), Object.values(servers))
  const selected = name ?? current
  const server = selected === null ? undefined : servers[selected]
  if (server) return server
  if (name !== undefined) {
    const known = Object.keys(servers).join(', ') || 'none'
    throw new CommandFailed(
      `There is no server named ${JSON.stringify(name)}. Known servers: ${known}.`,
      exitCodes.denied,
    )
  }
  throw new CommandFailed('Not signed in. Run `roost login`.', exitCodes.denied)
}

/** Finds the stored server at this address; never falls back to another one. Throws `CommandFailed`. */
function serverAt(url: string, servers: readonly { url: string; key: string }[]) {
  const server = servers.find((each) => each.url === url)
  if (server) return server
  const message = `Not signed in to ${url}. Run \`roost login ${url}\`, or set ROOST_KEY next to ROOST_URL.`
  throw new CommandFailed(message, exitCodes.denied)
}
