import type { CredentialsInjection } from '@roost/contracts/agents/lifecycle'
import type { AlertKind, PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import { exitsWithin, isRestartLoop, newsGuard, restartLoop } from './rules.ts'

/** What was heard of a container, written to its agent's row. Every news may come twice, late, or never. */
export type Observe = {
  /** The container runs by itself again; false when that is old news. */
  started(agent: Agent, news: { at: string; from: Source }): Promise<boolean>
  /** The container ended. `held`: for the last time, it now stays down. */
  exited(agent: Agent, end: ContainerEnd): Promise<{ recorded: boolean; held: boolean }>
}
export type ContainerEnd = { at: string; from: Source; exitCode: number | null; oomKilled: boolean }
/** An event happened at its time. A list may be older than what the row was told at the same time. */
export type Source = 'event' | 'list'

export type ObserveDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'changed'>
  events: Pick<Outbox, 'append'>
  /** Tells operators. */
  raiseAlert(tx: Tx, alert: PlatformAlert): Promise<void>
  /** What operators were told of is over. */
  clearAlert(tx: Tx, agentId: string, kind: AlertKind): Promise<void>
}

export function createObserve(deps: ObserveDeps): Observe {
  const { db, clock, agentRecords, events, raiseAlert } = deps
  const named = (agent: Agent) => ({ agent_names: [agent.name], agent_ids: [agent.id] })

  async function tellExit(tx: Tx, agent: Agent, end: ContainerEnd, loop: boolean): Promise<void> {
    const facts = { exit_code: end.exitCode, oom_killed: end.oomKilled }
    await events.append(
      tx,
      {
        type: 'agent.exited',
        ...named(agent),
        fields: { event: 'agent_exited', data: { name: agent.name, ...facts }, ...facts },
      },
      clock.now(),
    )
    if (!loop) return
    const fields = { exits: restartLoop.exits, window_seconds: restartLoop.windowSeconds, ...facts }
    const event = { type: 'agent.restart_loop', ...named(agent), audience: 'admin' as const, fields }
    await events.append(tx, event, clock.now())
    await raiseAlert(tx, {
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
        // Only after an end by itself: a start that somebody asked for tells of itself.
        const when = {
          state: 'ready' as const,
          desired: 'running' as const,
          status: ['exited' as const],
          held: false,
          ...newsGuard(agent, { at, strictly: from === 'list' }, clock.now()),
          ...(agent.container_id === null ? {} : { containerId: agent.container_id }),
        }
        const patch = { status: 'running' as const, started_at: at, observed_at: at, ...noExit }
        if (!(await agentStore(tx).move(agent.id, when, patch))) return false
        // Its files came back with it: nobody has put anything into it.
        const facts = { credentials_injection: 'nothing_to_inject', recreated: false } as const
        await tellStarted(tx, deps, agent, facts, clock.now())
        agentRecords.changed(tx, agent.id)
        return true
      }),

    exited: (agent, end) =>
      db.atomically(async (tx) => {
        const store = agentStore(tx)
        const present = await store.byId(agent.id)
        if (!present) return { recorded: false, held: false }
        const now = clock.now()
        const recent = exitsWithin(present.recent_exits, end.at)
        const held = isRestartLoop(recent)
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
              ...newsGuard(present, { at: end.at, strictly: end.from === 'list' }, now),
            },
            patch,
          )) ||
          // Started and ended before the start was written down; the end of an orderly stop is no newer than it.
          (await store.move(
            agent.id,
            { ...when, status: ['stopped'], ...newsGuard(present, { at: end.at, strictly: true }, now) },
            patch,
          ))
        if (!recorded) return { recorded: false, held: false }
        await tellExit(tx, agent, end, held)
        agentRecords.changed(tx, agent.id)
        return { recorded: true, held }
      }),
  }
}

const noExit = { exit_code: null, oom_killed: 0 }

/** The row after its container was started at `at`, unless it has ended since. True when that is news. */
export async function settleRunning(
  tx: Tx,
  agent: Pick<Agent, 'id' | 'observed_at'>,
  at: Date,
  state: 'creating' | 'ready',
): Promise<boolean> {
  const started_at = timestamp(at)
  return agentStore(tx).move(
    agent.id,
    {
      state,
      desired: 'running',
      status: ['stopped', 'exited'],
      ...newsGuard(agent, { at: started_at, strictly: false }, at),
    },
    { state: 'ready', status: 'running', started_at, observed_at: started_at, ...noExit },
  )
}

export async function tellStarted(
  tx: Tx,
  { events, clearAlert }: Pick<ObserveDeps, 'events' | 'clearAlert'>,
  { id, name, port }: Pick<Agent, 'id' | 'name' | 'port'>,
  about: { recreated: boolean; credentials_injection: CredentialsInjection },
  now: Date,
): Promise<void> {
  const facts = { ...about, port }
  const fields = { event: 'agent_started', data: { name, ...facts }, ...facts }
  await events.append(tx, { type: 'agent.started', agent_names: [name], agent_ids: [id], fields }, now)
  await clearAlert(tx, id, 'restart_loop')
}
