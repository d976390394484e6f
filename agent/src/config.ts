import { type PlatformAddress, parsePlatformAddress } from '@roost/contracts/link/addresses'
import type { RuntimeName } from '@roost/contracts/link/messages'

/** The environment of the container, read once at the start. */
export type Config = {
  agentName: string
  runtime: RuntimeName
  runtimeModel: string | null
  linkUrl: string
  /** Further addresses of the platform, until it names its current ones over the link. */
  linkAddresses: PlatformAddress[]
  mcpUrl: string | null
  agentKey: string
  imageVersion: string | null
  /** Number of this start and time for an older container to notice it; null on an engine of one machine. */
  fence: { start: number; waitMs: number } | null
  gateway: { socket: string; port: number } | null
  home: string
  /** Mount point of the agent's second volume. */
  volume: string
  /** Where a platform up to 0.1.0 has put the template. */
  template: string
  /** Parent of the temporary folders of single processes; outside the workspace. */
  scratch: string
}

type Variables = Readonly<Record<string, string | undefined>>

/** Throws an error that names the missing or invalid variable. */
export function readConfig(variables: Variables): Config {
  const required = (name: string) => {
    const value = variables[name]
    if (!value) throw new Error(`${name} is not set.`)
    return value
  }
  const optional = (name: string) => variables[name] || null
  const socket = optional('ROOST_GATEWAY_SOCKET')
  const start = optional('ROOST_START_NUMBER')
  return {
    agentName: required('AGENT_NAME'),
    runtime: runtimeOf(variables.AGENT_RUNTIME ?? 'claude-code'),
    runtimeModel: optional('AGENT_RUNTIME_MODEL'),
    linkUrl: linkOf(required('ROOST_LINK_URL')),
    linkAddresses: addressesOf(optional('ROOST_LINK_ADDRESSES')),
    mcpUrl: optional('ROOST_MCP_URL'),
    agentKey: required('ROOST_AGENT_KEY'),
    imageVersion: optional('ROOST_IMAGE_VERSION'),
    fence: start
      ? {
          start: wholeNumber('ROOST_START_NUMBER', start),
          waitMs: wholeNumber('ROOST_START_WAIT_SECONDS', variables.ROOST_START_WAIT_SECONDS ?? '0') * 1000,
        }
      : null,
    gateway: socket ? { socket, port: portOf(required('ROOST_GATEWAY_PORT')) } : null,
    home: variables.ROOST_HOME ?? '/home/developer',
    volume: variables.ROOST_VOLUME ?? '/var/lib/roost',
    template: variables.ROOST_TEMPLATE ?? '/template',
    scratch: variables.ROOST_SCRATCH ?? '/tmp',
  }
}

function runtimeOf(name: string): RuntimeName {
  switch (name) {
    case 'claude-code':
    case 'gemini-cli':
    case 'codex':
      return name
    default:
      throw new Error(`AGENT_RUNTIME "${name}" is not claude-code, gemini-cli or codex.`)
  }
}

function linkOf(url: string): string {
  if (!URL.canParse(url) || !/^wss?:/.test(url))
    throw new Error('ROOST_LINK_URL is not a ws:// or wss:// URL.')
  return url
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new Error(`${name} is not a whole number.`)
  return Number(text)
}

function addressesOf(list: string | null): PlatformAddress[] {
  return (list?.split(',') ?? []).map((each) => {
    const address = parsePlatformAddress(each.trim())
    if (!address) throw new Error('ROOST_LINK_ADDRESSES is not a list of host:port, separated by commas.')
    return address
  })
}

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error('ROOST_GATEWAY_PORT is not a port.')
  return port
}
