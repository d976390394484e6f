import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch } from '../../runs/dispatch/index.ts'
import type { Executions, RunHooks } from '../../runs/executions/index.ts'
import { waitForReply } from './reply.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { asEvents, asLines } from './stream.ts'
import { createTakeTurn, type Turn } from './turn.ts'
import { registerTurnHooks } from './turn-hooks.ts'

export type ChatDeps = {
  db: Db
  clock: Clock
  log: Log
  events: Pick<Outbox, 'append'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  hooks: RunHooks
  dispatch: Pick<Dispatch, 'admit' | 'acceptIn'>
  executions: Pick<Executions, 'watch' | 'inFlight' | 'toolCalls'>
  /** Name of an agent, for turns that an agent takes with another one. */
  agentName(agentId: string): Promise<string | null>
}

export type Chat = {
  sessions: Sessions
  takeTurn: ReturnType<typeof createTakeTurn>
  waitForReply(turn: Turn, signal: AbortSignal): ReturnType<typeof waitForReply>
  asLines(turn: Turn, signal: AbortSignal): AsyncGenerator<string, void, undefined>
  asEvents(turn: Turn, signal: AbortSignal): AsyncGenerator<string, void, undefined>
  /** Hook of the registry. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
}

export function createChat(deps: ChatDeps): Chat {
  const sessions = createSessions(deps)
  registerTurnHooks(deps.hooks, deps)
  return {
    sessions,
    takeTurn: createTakeTurn({ ...deps, sessions }),
    waitForReply: (turn, signal) => waitForReply(deps, turn, signal),
    asLines: (turn, signal) => asLines(deps, turn, signal),
    asEvents: (turn, signal) => asEvents(deps, turn, signal),
    agentDeleted: sessions.agentDeleted,
  }
}
