import { type Client, createClient } from '@roost/contracts/client'
import { CommandFailed, exitCodes } from './exit.ts'
import { readServers, serversPath } from './servers.ts'

export type Connection = { url: string; key: string; api: Client }

/**
 * The platform to talk to and the key for it: `ROOST_URL` with `ROOST_KEY`, else the server named on the
 * command line, else the one that was signed in to last.
 */
export async function connect(name: string | undefined, env = process.env): Promise<Connection> {
  const found = env.ROOST_KEY && name === undefined ? fromEnvironment(env) : await fromFile(name, env)
  return { ...found, api: createClient(found.url, found.key) }
}

function fromEnvironment(env: NodeJS.ProcessEnv): { url: string; key: string } {
  return { url: env.ROOST_URL || 'http://localhost:8000', key: env.ROOST_KEY ?? '' }
}

async function fromFile(
  name: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<{ url: string; key: string }> {
  const { current, servers } = await readServers(serversPath(env))
  const chosen = name ?? current
  const server = chosen === null ? undefined : servers[chosen]
  if (server) return server
  if (name !== undefined) {
    const known = Object.keys(servers).join(', ') || 'none'
    throw new CommandFailed(`There is no server ${JSON.stringify(name)}. Known: ${known}.`, exitCodes.denied)
  }
  throw new CommandFailed('Not signed in. `roost login` does that.', exitCodes.denied)
}
