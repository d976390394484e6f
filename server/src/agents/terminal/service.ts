import { terminalAccess } from '@roost/contracts/agents/terminal'
import type { WebSocket } from 'ws'
import type { Outbox } from '../../foundation/outbox/index.ts'
import {
  type IdentityChanges,
  isTouched,
  may,
  type SessionCaller,
  type SignedIn,
} from '../../identity/access/index.ts'
import type { AgentAccess } from '../access/index.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import { type OpenTerminal, type OpenTerminalDeps, openTerminal } from './open-terminal.ts'
import { type Closing, closings } from './rules.ts'

/** A caller who may open a terminal of this agent now. */
export type Admitted = { caller: SessionCaller; agent: Agent }

export type Terminals = {
  /** Throws `ephemeral_unavailable`. `caller` is the ticket's owner. */
  admit(ticket: string, agentName: string): Promise<Admitted | { refused: Closing; caller: SignedIn | null }>
  carry(admitted: Admitted, socket: WebSocket): void
  /** Number of terminals open in this process. */
  count(): number
  /** Subscribes to stopping agents and lost access. */
  open(): void
  /** Closes every terminal, which ends its processes. */
  close(): Promise<void>
}

export type TerminalsDeps = Omit<OpenTerminalDeps, 'agentRecords'> & {
  agentRecords: Pick<AgentRecords, 'byId' | 'byName'>
  agentAccess: Pick<AgentAccess, 'relationTo'>
  sessions: { callerOf(jti: string): Promise<SessionCaller | null> }
  changes: Pick<IdentityChanges, 'on'>
  events: Pick<Outbox, 'on'>
  /** Redeems a ticket once; null if it is invalid, used or expired. Throws `ephemeral_unavailable`. */
  redeemTicket(ticket: string): Promise<SignedIn | null>
}

type CarriedTerminal = Admitted & { terminal: OpenTerminal }

const endingEvents = new Set(['agent.stopped', 'agent.exited', 'agent.deleted'])

export function createTerminals(deps: TerminalsDeps): Terminals {
  const { agentRecords, agentAccess, sessions, changes, events, log } = deps
  const open = new Set<CarriedTerminal>()
  let isClosing = false
  let unsubscribe = () => {}

  async function refusalOf(caller: SignedIn, agent: Agent | null): Promise<Closing | null> {
    const relation = agent && (await agentAccess.relationTo(caller, agent))
    if ('refuse' in may(caller, terminalAccess, relation)) return closings.not_owner
    return agent?.status === 'running' ? null : closings.stopped
  }

  /** After a change (`isDoubtful`) a failed check ends the terminal; otherwise the next check decides. */
  async function recheck(
    carried: CarriedTerminal,
    { isDoubtful: hasChanged }: { isDoubtful: boolean },
  ): Promise<void> {
    try {
      const { session } = carried.caller
      const [caller, agent] = await Promise.all([
        sessions.callerOf(session.jti),
        agentRecords.byId(carried.agent.id),
      ])
      const refused = caller ? await refusalOf(caller, agent) : closings.session_ended
      if (refused) carried.terminal.end(refused)
    } catch (error) {
      log.warn({ err: error, agent: carried.agent.name }, 'could not check whether a terminal may stay open')
      if (hasChanged) carried.terminal.end(closings.unknown)
    }
  }

  changes.on((change) => {
    for (const carried of open) {
      if (isTouched(carried.caller, change)) void recheck(carried, { isDoubtful: change !== 'all' })
    }
  })

  return {
    async admit(ticket, agentName) {
      const caller = await deps.redeemTicket(ticket)
      if (!caller) return { refused: closings.bad_ticket, caller }
      const agent = await agentRecords.byName(agentName)
      const refused = await refusalOf(caller, agent)
      if (refused) return { refused, caller }
      // `refusalOf` has already rejected these; this narrows the types.
      if (caller.kind !== 'session' || !agent) return { refused: closings.not_owner, caller }
      return { caller, agent }
    },
    carry({ caller, agent }, socket) {
      if (isClosing) return socket.close(closings.stopping.close, closings.stopping.reason)
      const carried: CarriedTerminal = {
        caller,
        agent,
        terminal: openTerminal(deps, {
          agent,
          socket,
          look: () => void recheck(carried, { isDoubtful: false }),
        }),
      }
      open.add(carried)
      void carried.terminal.done.then(() => open.delete(carried))
      // Covers changes since the ticket was redeemed.
      void recheck(carried, { isDoubtful: true })
    },
    count: () => open.size,
    open() {
      unsubscribe = events.on('*', (event) => {
        if (event.signal || !endingEvents.has(event.type)) return
        for (const { agent, terminal } of open) {
          if (event.agent_ids.includes(agent.id)) terminal.end(closings.stopped)
        }
      })
    },
    async close() {
      isClosing = true
      unsubscribe()
      for (const { terminal } of open) terminal.end(closings.stopping)
      await Promise.all([...open].map(({ terminal }) => terminal.done))
    },
  }
}
