import type { McpServer } from '@roost/contracts/link/credentials'
import type { Environment } from '../processes/environment.ts'
import type { TurnPlace } from './places.ts'
import { type BridgedServer, bridgeEntry, canBridge } from './tool-bridge.ts'

/** The workspace's tool servers, as one turn gets them. */
export type TurnServers = {
  /** Entries for the CLI. */
  servers: Record<string, McpServer>
  /** Servers that this program runs for the turn, in the order of their sockets. */
  bridged: BridgedServer[]
  /** Sentences for the transcript. */
  notices: string[]
}

export type ServersDeps = {
  home: string
  servers(): Promise<Record<string, McpServer>>
  environment(overrides: Record<string, string | null>, place?: TurnPlace): Promise<Environment>
}

type Program = Extract<McpServer, { command: string }>

/**
 * Turns with credentials get the entries of `.mcp.json`. Others get servers without credentials, and connections to
 * programs that run as the agent's own user.
 */
export async function serversOf(place: TurnPlace, scratch: string, deps: ServersDeps): Promise<TurnServers> {
  if (place.credentials) return { servers: await deps.servers(), bridged: [], notices: [] }
  // With one user for all, the turn could read the environment of these programs.
  const entries = place.isPrivate && place.access !== 'none' ? Object.entries(await deps.servers()) : []
  if (entries.length === 0) return { servers: {}, bridged: [], notices: [] }
  const { env, secrets } = await variables(place, deps)
  const isPossible = await canBridge()
  const servers: TurnServers['servers'] = {}
  const bridged: BridgedServer[] = []
  const withheld: Record<Reason, string[]> = { secret: [], writable: [], missing: [] }
  for (const [name, server] of entries) {
    const reason = 'command' in server ? faultOf(server, place, secrets) : secretAddress(server)
    if (reason) withheld[reason].push(name)
    else if (!('command' in server)) servers[name] = server
    else if (isPossible) servers[name] = bridgeEntry(scratch, bridged.push(resolved(server, env)) - 1)
    else withheld.missing.push(name)
  }
  const notices = Object.entries(withheld).flatMap(([reason, names]) =>
    names.length === 0 ? [] : [`${reasons[reason as Reason]}: ${names.join(', ')}.`],
  )
  return { servers, bridged, notices }
}

type Reason = 'secret' | 'writable' | 'missing'

const reasons: Record<Reason, string> = {
  secret: 'Not offered here, because the address, headers or arguments may contain credentials',
  writable: 'Not offered here, because this turn may change the files that these tool servers run from',
  missing: 'Not offered here, because the agent has no Python interpreter to connect them',
}

/** The owner's variables, and the values among them that come from `.env`. */
async function variables(place: TurnPlace, { home, environment }: ServersDeps) {
  const env = await environment({})
  const open = await environment({}, { ...place, home, temporary: null })
  const own = Object.entries(env).filter(([name, value]) => open[name] !== value)
  return { env, secrets: { names: own.map(([name]) => name), values: own.map(([, value]) => value) } }
}

type Secrets = { names: string[]; values: string[] }

const minSecretLength = 6
const secretOption = /^--?[\w-]*(key|token|secret|password)/i

/** Everybody sees command lines. What may write to the workspace could give the program other code. */
function faultOf({ command, args = [] }: Program, { access }: TurnPlace, secrets: Secrets): Reason | null {
  const isSecret = (text: string) =>
    secretOption.test(text) ||
    secrets.names.some((name) => new RegExp(`\\$\\{${name}[:}]`).test(text)) ||
    secrets.values.some((value) => value.length >= minSecretLength && text.includes(value))
  if ([command, ...args].some(isSecret)) return 'secret'
  return access === 'write' ? 'writable' : null
}

/** The turn sees the whole address. A long part with digits may be a key, so it counts as one. */
function secretAddress({ url, headers }: Exclude<McpServer, Program>): Reason | null {
  const address = URL.canParse(url) ? new URL(url) : null
  const hasSecret =
    !address ||
    Object.keys(headers ?? {}).length > 0 ||
    /[?#@$]/.test(url) ||
    address.href.split(/[/.]/).some((part) => part.length >= 16 && /\d/.test(part))
  return hasSecret ? 'secret' : null
}

const placeholder = /\$\{(\w+)(?::-([^}]*))?\}/g

/** Replaces placeholders as Claude Code does. */
function resolved({ command, args = [], env = {} }: Program, variables: Environment): BridgedServer {
  const fill = (text: string) =>
    text.replace(placeholder, (whole, name, fallback) => variables[name] ?? fallback ?? whole)
  const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]))
  return { command: fill(command), args: args.map(fill), env: { ...variables, ...own } }
}
