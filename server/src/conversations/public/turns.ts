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
import { outcomeWords } from '../chat/index.ts'
import type { OpenLink } from './resolve-link.ts'
import { shownLine } from './rules.ts'
import { publicStore } from './store.ts'
import type { Visitors } from './visitors.ts'

export type TurnsDeps = {
  db: Db
  log: Pick<Log, 'error'>
  executions: Pick<Executions, 'find' | 'watch' | 'terminate'>
  visitors: Pick<Visitors, 'tokenHashOf'>
}

/**
 * Turns that a link has started, for whoever knows their ids; where an address was confirmed, for the session
 * token that started them. All throw `execution_not_found` for every other run, and `session_expired`.
 */
export type Turns = {
  status(open: OpenLink, asked: AskedTurn): Promise<ReturnType<typeof statusOf>>
  stream(
    open: OpenLink,
    asked: AskedTurn,
    options: { after: number; partials: boolean },
  ): Promise<{ executionId: string; events: (signal: AbortSignal) => AsyncIterable<string> }>
  terminate(open: OpenLink, asked: AskedTurn): Promise<Terminated>
}

export type AskedTurn = { executionId: string; sessionToken: string | null | undefined }

export function createTurns({ db, log, executions, visitors }: TurnsDeps): Turns {
  async function readerOf({ link, agent }: OpenLink, asked: AskedTurn): Promise<Reader> {
    const tokenHash = link.require_email === 1 ? await visitors.tokenHashOf(link, asked.sessionToken) : null
    // The same when the link has asked for an address since, or asks for none any more.
    const isOwn = await publicStore(db).hasTurn(link.id, asked.executionId, tokenHash)
    if (!isOwn) throw new Fault('execution_not_found')
    return { caller: visitorCaller, agentId: agent.id, relation: 'shared' }
  }

  const find = async (open: OpenLink, asked: AskedTurn): Promise<ExecutionRow> =>
    executions.find(await readerOf(open, asked), asked.executionId)

  return {
    status: async (open, asked) => statusOf(await find(open, asked)),

    async stream(open, asked, { after, partials }) {
      const { id } = await find(open, asked)
      const only = { line: shownLine, pieces: 'text' } as const
      const events = (signal: AbortSignal) =>
        executionEvents(executions.watch, id, { after, partials, isShown: true, only, signal, log })
      return { executionId: id, events }
    },

    terminate: async (open, asked) => executions.terminate(await readerOf(open, asked), asked.executionId),
  }
}

function statusOf(row: ExecutionRow) {
  const isEndedBadly = row.status === 'failed' || row.status === 'cancelled'
  return {
    execution_id: row.id,
    status: row.status,
    response: row.status === 'success' ? row.response : null,
    error: isEndedBadly ? outcomeWords(row.error_code) : null,
    started_at: row.started_at,
    completed_at: row.completed_at,
  }
}

/** As the record names who has stopped a turn; it may do nothing else. */
const visitorCaller: SessionCaller = {
  kind: 'session',
  user: { id: 'public', username: 'a visitor of a public link', email: null, role: 'user' },
  session: { jti: '', mode: 'email', expires_at: '' },
}
