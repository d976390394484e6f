import { createServer, type Server } from 'node:http'
import { listExposedAgents } from '@roost/contracts/agents/settings'
import { createClient } from '@roost/contracts/client'
import { endMcpSession, findEndedMcpSessions } from '@roost/contracts/identity/mcp-sessions'
import { followServer } from '@roost/contracts/kit/closing'
import { createCallAudit } from './audit.ts'
import type { McpConfig } from './config.ts'
import { createExposed } from './exposed.ts'
import { createHandler } from './handler.ts'
import { createKeyCheck } from './keys.ts'
import { errorFields, type Log } from './log.ts'
import { createServerFactory } from './server.ts'
import { tools } from './tools/index.ts'

export type McpServer = { port: number; close(): Promise<void> }

const refreshMs = 20_000
/** Time for open calls to end after the process is asked to stop. */
const graceMs = 3_000

/** Serves the platform as tools, as a client of its API. */
export async function serveMcp(
  config: McpConfig,
  log: Log,
  clock: { now(): number } = { now: () => Date.now() },
): Promise<McpServer> {
  const api = createClient(config.apiUrl, null, {
    'x-via-mcp': '1',
    // Both processes are on one network, where compression only costs time.
    'accept-encoding': 'identity',
  })
  const internal = createClient(config.internalUrl, config.internalSecret)
  const exposed = createExposed({
    load: async () => (await internal.call(listExposedAgents, {})).agents,
    clock,
    onLost: (error) => log.warn(errorFields(error), 'the exposed agents could not be read'),
  })
  const createProtocolServer = createServerFactory({
    version: config.version,
    tools,
    exposed,
    waitSeconds: config.waitSeconds,
    clock,
    called: createCallAudit(internal, (error, lost) =>
      log.warn({ ...errorFields(error), lost }, 'an audit entry could not be written'),
    ),
    failed: (tool, error) => log.warn({ tool, ...errorFields(error) }, 'a tool could not ask the platform'),
  })
  const handler = createHandler({
    keys: createKeyCheck(api, clock),
    api,
    createServer: createProtocolServer,
    clock,
    ended: {
      add: async (session) => void (await internal.call(endMcpSession, { body: { session } })),
      of: async (marks) =>
        (await internal.call(findEndedMcpSessions, { body: { sessions: [...marks] } })).ended,
    },
    keepaliveMs: config.keepaliveSeconds * 1000,
    secret: config.internalSecret,
    hostNames: ['localhost', new URL(config.baseUrl).hostname, ...config.hostNames],
    failed: (error) => log.warn(errorFields(error), 'a request failed'),
  })
  const server = createServer({ keepAliveTimeout: 75_000 }, handler.listener)
  const followed = followServer(server)
  await listen(server, config)

  await exposed.refresh()
  const timer = setInterval(async () => {
    if (await exposed.refresh()) await handler.toolsChanged()
    await handler.sweep()
  }, refreshMs)

  return {
    port: (server.address() as import('node:net').AddressInfo).port,
    async close() {
      clearInterval(timer)
      await handler.close()
      await followed.close(graceMs)
    },
  }
}

function listen(server: Server, { host, port }: McpConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  })
}
