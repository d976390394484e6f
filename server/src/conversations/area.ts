import type { AgentsArea } from '../agents/area.ts'
import type { Idempotency, WorkStates } from '../foundation/idempotency/index.ts'
import type { Outbox } from '../foundation/outbox/index.ts'
import type { Route } from '../http/route.ts'
import type { Clock } from '../kit/clock.ts'
import type { Db } from '../ports/database/port.ts'
import type { Log } from '../ports/log.ts'
import type { RunRecords, RunsArea } from '../runs/area.ts'
import { type Chat, type ChatDeps, chatRoutes, createChat } from './chat/index.ts'

export type ConversationsAreaDeps = Pick<ChatDeps, 'agentName'> & {
  db: Db
  clock: Clock
  log: Log
  events: Pick<Outbox, 'append' | 'signal' | 'on'>
  idempotency: Pick<Idempotency, 'enter'>
  works: Pick<WorkStates, 'register'>
  agents: Pick<AgentsArea, 'hooks'>
  records: RunRecords
  runs: Pick<RunsArea, 'dispatch'>
}

export type ConversationsArea = {
  chat: Chat
  routes: Route[]
}

/** Wires the ways in which people talk with agents. */
export function createConversationsArea(deps: ConversationsAreaDeps): ConversationsArea {
  const { records, runs, works, agents } = deps
  const chat = createChat({ ...deps, ...records, dispatch: runs.dispatch })
  works.register(chat.workState)
  agents.hooks.onDeleting((tx, { agent }) => chat.agentDeleted(tx, agent.id))
  return { chat, routes: chatRoutes(chat) }
}
