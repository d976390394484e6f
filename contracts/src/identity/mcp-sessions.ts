import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'

/** The beginning of a session's id, which is random; the whole id may have kilobytes. */
const SessionMark = z.string().regex(/^[\w-]{16}$/)
export const maxMarksPerRequest = 1000

export const endMcpSession = endpoint({
  id: 'endMcpSession',
  method: 'POST',
  path: '/api/internal/mcp-sessions/end',
  summary: 'Mark an MCP session as ended by its client',
  tag: 'Internal',
  access: { who: 'internal' },
  body: z.object({ session: SessionMark }),
  returns: z.object({ status: z.literal('ended') }),
  fails: ['ephemeral_unavailable'],
})

export const findEndedMcpSessions = endpoint({
  id: 'findEndedMcpSessions',
  method: 'POST',
  path: '/api/internal/mcp-sessions/ended',
  summary: 'Which of these MCP sessions their clients have ended',
  tag: 'Internal',
  access: { who: 'internal' },
  body: z.object({ sessions: z.array(SessionMark).max(maxMarksPerRequest) }),
  returns: z.object({ ended: z.array(SessionMark) }),
  fails: ['ephemeral_unavailable'],
})
