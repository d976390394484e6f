import type { CredentialsInjection } from '@roost/contracts/agents/lifecycle'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore, type Waiting } from '../records/index.ts'
import type { BroughtUp } from './machine.ts'
import { exitsWithin, isRestartLoop, newsGuard, restartLoop } from './rules.ts'

/** Records container changes in the agent's row. A report may arrive twice, late or never. */
export type Observe = {
  /** The container runs again by itself; returns false for outdated reports. */
  started(agent: Agent, report: { at: string; from: Source }): Promise<boolean>
  /** The container ended. `held` means that it exited too often and now stays down. */
  exited(agent: Agent, end: ContainerEnd): Promise<{ recorded: boolean; held: boolean }>
  /** The container cannot run yet, or its node is unreachable. Returns false if the row does not match. */
  waiting(agent: Agent, report: Waiting): Promise<boolean>
}
/** `isEvicted`: the engine ended it and does not restart it. */
export type ContainerEnd = {
  at: string
  from: Source
  exitCode: number | null
  oomKilled: boolean
  isEvicted?: boolean
}
/** An event happened at its time. A list may be older than a row change with the same timestamp. */
export type Source = 'event' | 'list'

export type ObserveDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'changed'>
  events: Pick<Outbox, 'append'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
}

export function createObserve(deps: ObserveDeps): Observe {
  const { db, clock, agentRecords, events, alerts } = deps
  const subject = (agent: Agent) => ({ agent_names: [agent.name], agent_ids: [agent.id] })

  async function appendExit(tx: Tx, agent: Agent, end: ContainerEnd, loop: boolean): Promise<void> {
    const details = { exit_code: end.exitCode, oom_killed: end.oomKilled }
    await events.append(
      tx,
      {
        type: 'agent.exited',
        ...subject(agent),
        fields: { event: 'agent_exited', data: { name: agent.name, ...details }, ...details },
      },
      clock.now(),
    )
    if (!loop) return
    const fields = { exits: restartLoop.exits, window_seconds: restartLoop.windowSeconds, ...details }
    const event = { type: 'agent.restart_loop', ...subject(agent), audience: 'admin' as const, fields }
    await events.append(tx, event, clock.now())
    await alerts.raise(tx, {
      agentId: agent.id,
      kind: 'restart_loop',
      title: `The agent "${agent.name}" keeps crashing and stays down`,
      question: `Its container ended ${restartLoop.exits} times within ${restartLoop.windowSeconds / 60} minutes. Look at its logs, and start it again when the cause is gone.`,
      priority: 'critical',
      context: fields,
    })
  }

  return {
    started: (agent, { at, from }) =>
      db.atomically(async (tx) => {
        // Only after the container ended by itself: a requested start emits its own event.
        const when = {
          state: 'ready' as const,
          desired: 'running' as const,
          status: ['exited' as const],
          held: false,
          ...newsGuard(agent, { at, strictly: from === 'list' }, clock.now()),
          ...(agent.container_id === null ? {} : { containerId: agent.container_id }),
        }
        const patch = {
          status: 'running' as const,
          started_at: at,
          observed_at: at,
          ...noExit,
          waiting: null,
        }
        if (!(await agentStore(tx).move(agent.id, when, patch))) return false
        // The restarted container still has its files, so nothing was injected.
        const details = { credentials_injection: 'nothing_to_inject', recreated: false } as const
        await appendStarted(tx, deps, agent, details, clock.now())
        agentRecords.changed(tx, agent.id)
        return true
      }),

    exited: (agent, end) =>
      db.atomically(async (tx) => {
        const store = agentStore(tx)
        const current = await store.byId(agent.id)
        if (!current) return { recorded: false, held: false }
        const now = clock.now()
        // Like a lost node, an eviction is not the agent's fault, so it does not count as a crash.
        const recent = end.isEvicted ? current.recent_exits : exitsWithin(current.recent_exits, end.at)
        const held = !end.isEvicted && isRestartLoop(recent)
        const when = {
          state: 'ready' as const,
          desired: 'running' as const,
          held: false,
          ...(agent.container_id === null ? {} : { containerId: agent.container_id }),
        }
        const patch = {
          status: 'exited' as const,
          observed_at: end.at,
          exit_code: end.exitCode,
          oom_killed: end.oomKilled ? 1 : 0,
          recent_exits: JSON.stringify(recent),
          held: held ? 1 : 0,
        }
        const recorded =
          (await store.move(
            agent.id,
            {
              ...when,
              status: ['running'],
              ...newsGuard(current, { at: end.at, strictly: end.from === 'list' }, now),
            },
            patch,
          )) ||
          // The container started and ended before the start was recorded. The end of an orderly stop is
          // never newer than the row.
          (await store.move(
            agent.id,
            { ...when, status: ['stopped'], ...newsGuard(current, { at: end.at, strictly: true }, now) },
            patch,
          )) ||
          // The engine waits before it restarts a container, which then ends before it is seen running.
          (end.from === 'event' &&
            current.waiting?.state === 'pending' &&
            (await store.move(
              agent.id,
              { ...when, status: ['exited'], ...newsGuard(current, { at: end.at, strictly: true }, now) },
              { ...patch, waiting: null },
            )))
        if (!recorded) return { recorded: false, held: false }
        await appendExit(tx, agent, end, held)
        agentRecords.changed(tx, agent.id)
        return { recorded: true, held }
      }),

    waiting: (agent, report) =>
      db.atomically(async (tx) => {
        const store = agentStore(tx)
        const when = {
          state: 'ready' as const,
          desired: 'running' as const,
          held: false,
          ...(agent.container_id === null ? {} : { containerId: agent.container_id }),
        }
        const patch = { waiting: JSON.stringify(report) }
        const ended = { ...patch, status: 'exited' as const, exit_code: null, oom_killed: 0 }
        // A lost node is not the agent's fault, so it does not count as a crash.
        if (
          report.state === 'lost' &&
          (await store.move(agent.id, { ...when, status: ['running'] }, ended))
        ) {
          const end = { at: report.since, from: 'event' as const, exitCode: null, oomKilled: false }
          await appendExit(tx, agent, end, false)
        } else if (!(await store.move(agent.id, { ...when, status: ['stopped', 'exited'] }, patch)))
          return false
        agentRecords.changed(tx, agent.id)
        return true
      }),
  }
}

const noExit = { exit_code: null, oom_killed: 0 }

/**
 * Records that the container started at `at`, unless it has ended since, or that it waits. Returns the new
 * status of the row; null if it did not change.
 */
export async function settleStart(
  tx: Tx,
  agent: Pick<Agent, 'id' | 'observed_at'>,
  { at, waiting }: Pick<BroughtUp, 'at' | 'waiting'>,
  state: 'creating' | 'ready',
): Promise<'running' | 'waiting' | null> {
  if (waiting) {
    const patch = { state: 'ready' as const, waiting: JSON.stringify(waiting) }
    const when = { state, desired: 'running' as const }
    const isWaiting =
      (await agentStore(tx).move(agent.id, { ...when, status: ['stopped', 'exited'] }, patch)) ||
      // The event of its end is still on the way.
      (await agentStore(tx).move(agent.id, when, { ...patch, status: 'exited' }))
    return isWaiting ? 'waiting' : null
  }
  const started_at = timestamp(at)
  const isRunning = await agentStore(tx).move(
    agent.id,
    {
      state,
      desired: 'running',
      status: ['stopped', 'exited'],
      ...newsGuard(agent, { at: started_at, strictly: false }, at),
    },
    { state: 'ready', status: 'running', started_at, observed_at: started_at, ...noExit, waiting: null },
  )
  return isRunning ? 'running' : null
}

export async function appendStarted(
  tx: Tx,
  { events, alerts }: Pick<ObserveDeps, 'events' | 'alerts'>,
  { id, name, port }: Pick<Agent, 'id' | 'name' | 'port'>,
  about: { recreated: boolean; credentials_injection: CredentialsInjection },
  now: Date,
): Promise<void> {
  const details = { ...about, port }
  const fields = { event: 'agent_started', data: { name, ...details }, ...details }
  await events.append(tx, { type: 'agent.started', agent_names: [name], agent_ids: [id], fields }, now)
  await alerts.clear(tx, id, 'restart_loop')
}
