import type { QueueItem, RespondBody } from '@roost/contracts/operations/operator-queue'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { WorkStateOf } from '../../foundation/idempotency/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Executions } from '../../runs/executions/index.ts'
import type { AccessRevocationPort } from '../chat/index.ts'
import { createTalk, type WorkspaceTalk } from './chat.ts'
import { type Clients, type ClientsDeps, createClients } from './clients.ts'
import { type Conversations, type ConversationsDeps, createConversations } from './conversations.ts'
import { createDeliveries, type Deliveries, type DeliveriesDeps } from './deliveries.ts'
import { createDocuments, type Documents, type DocumentsDeps } from './documents.ts'
import { createPrincipals, type Principals, type PrincipalsDeps } from './principal.ts'
import { createReplies, type Replies } from './replies.ts'
import { createRoster, type Roster, type RosterDeps } from './roster.ts'
import { workspaceSessionStore } from './session-store.ts'
import { createSignIn, type SignIn, type SignInDeps } from './sign-in.ts'
import { createStarters, type StartersDeps } from './starters.ts'
import { workspaceStore } from './store.ts'
import { createTurns, type Turns, type TurnsDeps } from './turns.ts'

/** Requests of agents to an address. The queue is in an area to the right. */
export type AsksPort = {
  asksOf(email: string, agentIds: readonly string[]): Promise<QueueItem[]>
  /** Throws `not_found` for an item that is not addressed to this person or not about these agents. */
  answer(
    by: { id: string | null; email: string },
    agentIds: readonly string[],
    id: string,
    body: RespondBody,
  ): Promise<QueueItem>
}

/** Rates a report; reports are in an area to the right. Throws `not_found`. */
export type RateReport = (
  agent: { id: string; name: string },
  holder: string,
  body: { id: string; rating: 'up' | 'down' | 'none'; comment: string | null },
) => Promise<void>

export type WorkspaceChatDeps = PrincipalsDeps &
  Omit<RosterDeps, 'starters'> &
  StartersDeps &
  Omit<SignInDeps, 'principals' | 'roster'> &
  Omit<ConversationsDeps, 'roster'> &
  Omit<TurnsDeps, 'conversations'> &
  Omit<DeliveriesDeps, 'conversations' | 'roster'> &
  DocumentsDeps &
  Pick<ClientsDeps, 'agentAccess'> & {
    clock: Clock
    log: Log
    agentRecords: Pick<AgentRecords, 'all' | 'byName' | 'byId'>
    executions: Pick<Executions, 'find' | 'inFlight' | 'watch' | 'untilEnd' | 'terminate'>
    accessRevocation: AccessRevocationPort
    asks: AsksPort
    rateReport: RateReport
  }

export type WorkspaceChat = {
  principals: Principals
  signIn: SignIn
  roster: Roster
  conversations: Conversations
  turns: Turns
  talk: WorkspaceTalk
  replies: Replies
  documents: Documents
  clients: Clients
  asks: AsksPort
  rateReport: RateReport
  executions: Pick<Executions, 'watch' | 'untilEnd' | 'terminate'>
  log: Log
  /** Delivers the output of schedules and reminders as messages. */
  deliver: Deliveries['deliver']
  deliverRun: Deliveries['deliverRun']
  /** Whether this address may receive deliveries of the agent. */
  reaches(agentId: string, email: string): Promise<boolean>
  workState: WorkStateOf
  /** Hook of agent deletion. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
  /** Resolves when no mail is being sent. */
  settled(): Promise<void>
}

export function createWorkspaceChat(deps: WorkspaceChatDeps): WorkspaceChat {
  const { accessRevocation, asks, rateReport, executions, log } = deps
  const principals = createPrincipals(deps)
  const roster = createRoster({ ...deps, starters: createStarters(deps) })
  const conversations = createConversations({ ...deps, roster })
  const turns = createTurns({ ...deps, conversations })
  const replies = createReplies({ accessRevocation, principals, roster })
  const deliveries = createDeliveries({ ...deps, conversations, roster })
  const signIn = createSignIn({ ...deps, principals, roster })
  return {
    principals,
    signIn,
    roster,
    conversations,
    turns,
    replies,
    talk: createTalk({ ...deps, turns, replies }),
    documents: createDocuments(deps),
    clients: createClients({ ...deps, roster, principals }),
    asks,
    rateReport,
    executions,
    log,
    deliver: deliveries.deliver,
    deliverRun: deliveries.deliverRun,
    reaches: (agentId, email) => roster.canReceive(deps.db, agentId, email.toLowerCase()),
    workState: turns.workState,
    async agentDeleted(tx, agentId) {
      await workspaceStore(tx).removeOfAgent(agentId)
      await workspaceSessionStore(tx).removeBlocksOf(agentId)
    },
    loops: [
      { name: 'workspace.deliveries', everySeconds: 5, run: deliveries.flush },
      { name: 'workspace.sessions', everySeconds: 3600, run: principals.sweep },
    ],
    settled: signIn.settled,
  }
}
