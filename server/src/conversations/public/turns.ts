import type { Terminated } from '@roost/contracts/runs/executions'
import type { SessionCaller } from '../../identity/access/caller.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import {
  type ExecutionRow,
  type Executions,
  executionEvents,
  type Reader,
} from '../../runs/executions/index.ts'
import { outcomeMessage } from '../chat/index.ts'
import type { OpenLink } from './resolve-link.ts'
import { visitorLine } from './rules.ts'
import { publicStore } from './store.ts'
import type { Visitors } from './visitors.ts'

export type TurnsDeps = {
  db: Db
  log: Pick<Log, 'error'>
  executions: Pick<Executions, 'find' | 'watch' | 'untilEnd' | 'terminate'>
  visitors: Pick<Visitors, 'tokenHashOf'>
}

/**
 * Turns that a link has started, for callers who know their ids. On a link with verification also the session token
 * must match. Throws `execution_not_found` for other runs, and `session_expired`.
 */
export type Turns = {
  status(open: OpenLink, request: TurnRequest): Promise<ReturnType<typeof statusOf>>
  stream(
    open: OpenLink,
    request: TurnRequest,
    options: { after: number; partials: boolean },
  ): Promise<{ executionId: string; events: (signal: AbortSignal) => AsyncIterable<string> }>
  terminate(open: OpenLink, request: TurnRequest): Promise<Terminated>
}

export type TurnRequest = { executionId: string; sessionToken: string | null | undefined }

export function createTurns({ db, log, executions, visitors }: TurnsDeps): Turns {
  async function readerOf({ link, agent }: OpenLink, request: TurnRequest): Promise<Reader> {
    const tokenHash = link.require_email === 1 ? await visitors.tokenHashOf(link, request.sessionToken) : null
    // Also refuses turns from before `require_email` was changed.
    const isStartedHere = await publicStore(db).hasTurn(link.id, request.executionId, tokenHash)
    if (!isStartedHere) throw new Fault('execution_not_found')
    return { caller: visitorCaller, agentId: agent.id, relation: 'shared' }
  }

  const find = async (open: OpenLink, request: TurnRequest): Promise<ExecutionRow> =>
    executions.find(await readerOf(open, request), request.executionId)

  return {
    status: async (open, request) => statusOf(await find(open, request)),

    async stream(open, request, { after, partials }) {
      const { id } = await find(open, request)
      const only = { line: visitorLine, pieces: 'text' } as const
      const events = (signal: AbortSignal) =>
        executionEvents(executions.watch, id, { after, partials, isShown: true, only, signal, log })
      return { executionId: id, events }
    },

    terminate: async (open, request) =>
      executions.terminate(await readerOf(open, request), request.executionId),
  }
}

function statusOf(row: ExecutionRow) {
  const isUnsuccessful = row.status === 'failed' || row.status === 'cancelled'
  return {
    execution_id: row.id,
    status: row.status,
    response: row.status === 'success' ? row.response : null,
    error: isUnsuccessful ? outcomeMessage(row.error_code) : null,
    started_at: row.started_at,
    completed_at: row.completed_at,
  }
}

/** Identifies the visitor in the record of a stopped turn; it has no other rights. */
const visitorCaller: SessionCaller = {
  kind: 'session',
  user: { id: 'public', username: 'a visitor of a public link', email: null, role: 'user' },
  session: { jti: '', mode: 'email', expires_at: '' },
}
