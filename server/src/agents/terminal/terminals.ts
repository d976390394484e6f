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

/** Somebody who may open a terminal of this agent now. */
export type Admitted = { caller: SessionCaller; agent: Agent }

export type Terminals = {
  /** Throws `ephemeral_unavailable`. `caller`: whose ticket it was. */
  admit(ticket: string, agentName: string): Promise<Admitted | { refused: Closing; caller: SignedIn | null }>
  carry(admitted: Admitted, socket: WebSocket): void
  /** How many are open in this process. */
  count(): number
  /** Starts to hear of agents that stop and of people who may no longer. */
  open(): void
  /** Closes every terminal; what was started in it ends. */
  close(): Promise<void>
}

export type TerminalsDeps = Omit<OpenTerminalDeps, 'agentRecords'> & {
  agentRecords: Pick<AgentRecords, 'byId' | 'byName'>
  agentAccess: Pick<AgentAccess, 'relationTo'>
  sessions: { callerOf(jti: string): Promise<SessionCaller | null> }
  changes: Pick<IdentityChanges, 'on'>
  events: Pick<Outbox, 'on'>
  /** What a ticket was made with, once; null when it is none, used or too old. Throws `ephemeral_unavailable`. */
  redeemTicket(ticket: string): Promise<SignedIn | null>
}

type Carried = Admitted & { terminal: OpenTerminal }

const ends = new Set(['agent.stopped', 'agent.exited', 'agent.deleted'])

export function createTerminals(deps: TerminalsDeps): Terminals {
  const { agentRecords, agentAccess, sessions, changes, events, log } = deps
  const open = new Set<Carried>()
  let isClosing = false
  let stopHearing = () => {}

  async function refusalOf(caller: SignedIn, agent: Agent | null): Promise<Closing | null> {
    const relation = agent && (await agentAccess.relationTo(caller, agent))
    if ('refuse' in may(caller, terminalAccess, relation)) return closings.not_owner
    return agent?.status === 'running' ? null : closings.stopped
  }

  /** `isDoubtful`: something has changed, and what cannot be looked up counts as gone. Else the next look tells. */
  async function look(carried: Carried, { isDoubtful }: { isDoubtful: boolean }): Promise<void> {
    try {
      const { session } = carried.caller
      const [caller, agent] = await Promise.all([
        sessions.callerOf(session.jti),
        agentRecords.byId(carried.agent.id),
      ])
      const refused = caller ? await refusalOf(caller, agent) : closings.session_ended
      if (refused) carried.terminal.end(refused)
    } catch (error) {
      log.warn(
        { err: error, agent: carried.agent.name },
        'whether a terminal may stay open could not be looked up',
      )
      if (isDoubtful) carried.terminal.end(closings.unknown)
    }
  }

  changes.on((change) => {
    for (const carried of open) {
      if (isTouched(carried.caller, change)) void look(carried, { isDoubtful: change !== 'all' })
    }
  })

  return {
    async admit(ticket, agentName) {
      const caller = await deps.redeemTicket(ticket)
      if (!caller) return { refused: closings.bad_ticket, caller }
      const agent = await agentRecords.byName(agentName)
      const refused = await refusalOf(caller, agent)
      if (refused) return { refused, caller }
      // Of others the gate has said so.
      if (caller.kind !== 'session' || !agent) return { refused: closings.not_owner, caller }
      return { caller, agent }
    },
    carry({ caller, agent }, socket) {
      if (isClosing) return socket.close(closings.stopping.close, closings.stopping.reason)
      const carried: Carried = {
        caller,
        agent,
        terminal: openTerminal(deps, {
          agent,
          socket,
          look: () => void look(carried, { isDoubtful: false }),
        }),
      }
      open.add(carried)
      void carried.terminal.done.then(() => open.delete(carried))
      // What has changed since the ticket was shown.
      void look(carried, { isDoubtful: true })
    },
    count: () => open.size,
    open() {
      stopHearing = events.on('*', (event) => {
        if (event.signal || !ends.has(event.type)) return
        for (const { agent, terminal } of open) {
          if (event.agent_ids.includes(agent.id)) terminal.end(closings.stopped)
        }
      })
    },
    async close() {
      isClosing = true
      stopHearing()
      for (const { terminal } of open) terminal.end(closings.stopping)
      await Promise.all([...open].map(({ terminal }) => terminal.done))
    },
  }
}
