import { endMcpSession, findEndedMcpSessions } from '@roost/contracts/identity/mcp-sessions'
import { type Route, route } from '../../http/route.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import { createMcpSessions } from './service.ts'

export function mcpSessionRoutes(ephemeral: Pick<Ephemeral, 'put' | 'get'>): Route[] {
  const sessions = createMcpSessions(ephemeral)
  return [
    route(endMcpSession, async ({ body }) => {
      await sessions.end(body.session)
      return { status: 'ended' as const }
    }),
    route(findEndedMcpSessions, async ({ body }) => ({ ended: await sessions.endedOf(body.sessions) })),
  ]
}
