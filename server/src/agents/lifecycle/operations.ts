import type { StartReply } from '@roost/contracts/agents/lifecycle'
import type { SkillDelivery } from '@roost/contracts/skills/assignments'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { Detach } from './detach.ts'
import { engineFault } from './faults.ts'
import type { LifecycleHooks } from './hooks.ts'
import type { Lock } from './lock.ts'
import { type Machine, stopGraceSeconds } from './machine.ts'
import { type ObserveDeps, settleRunning, tellStarted } from './observe.ts'

export type OperationDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'changed'>
  events: Pick<Outbox, 'append'>
  lock: Lock
  machine: Machine
  letGo: Detach
  hooks: LifecycleHooks
  clearAlert: ObserveDeps['clearAlert']
  /** Looks after the credentials of a container that was just started; never throws. */
  injectCredentials(agent: Agent): Promise<Injection>
  /** Waits a while for the skills of a container that was started at `since`. Null: it has none. */
  deliverSkills(agentId: string, since: Date): Promise<SkillDelivery | null>
}

export type Injection = Pick<StartReply, 'credentials_injection' | 'credentials_result'>
const nothingInjected: Injection = { credentials_injection: 'nothing_to_inject', credentials_result: null }

/** Start, stop, and what the repair loop does: each says what is wanted, then makes it so. */
export function createOperations(deps: OperationDeps) {
  const { db, clock, agentRecords, events, lock, machine, letGo, hooks } = deps

  async function start(agentId: string): Promise<StartReply> {
    const { reply, newSince } = await startNow(agentId)
    if (newSince === null) return reply
    // Without the lock: whoever stops the agent does not wait for its skills.
    return { ...reply, skills_injection: await deps.deliverSkills(agentId, newSince) }
  }

  /** `newSince`: null when it was running already. */
  async function startNow(agentId: string): Promise<{ reply: StartReply; newSince: Date | null }> {
    return lock.run(agentId, async () => {
      const agent = await fresh(agentId)
      return upAgain(agent, `Agent ${agent.name} started.`)
    })
  }

  /** With the lock held. `done` is said when there was anything to do. */
  async function upAgain(agent: Agent, done: string): Promise<{ reply: StartReply; newSince: Date | null }> {
    if (agent.desired !== 'running' || agent.held || agent.recent_exits.length > 0) {
      await wish(agent, { desired: 'running', held: 0, recent_exits: '[]' })
    }
    try {
      const { steps, reason, at, recreated, port, injection } = await up(agent)
      const reply = {
        message: steps.length > 0 ? done : `Agent ${agent.name} is running already.`,
        ...injection,
        skills_injection: null,
        recreated,
        recreate_reason: reason,
        port,
      }
      return { reply, newSince: steps.includes('start') ? at : null }
    } catch (error) {
      // Whoever is told that it failed must not find it running later.
      await wish(agent, { desired: agent.desired, held: agent.held ? 1 : 0 })
      throw engineFault(error)
    }
  }

  async function stop(agentId: string): Promise<{ message: string }> {
    return lock.run(agentId, async () => {
      const agent = await fresh(agentId)
      if (agent.desired === 'running') {
        await db.atomically(async (tx) => {
          await agentStore(tx).update(agent.id, { desired: 'stopped', held: 0, recent_exits: '[]' })
          await hooks.stopping(tx, agent, clock.now())
          agentRecords.changed(tx, agent.id)
        })
      }
      try {
        const stopped = await down(agent)
        return {
          message: stopped ? `Agent ${agent.name} stopped.` : `Agent ${agent.name} is stopped already.`,
        }
      } catch (error) {
        throw engineFault(error)
      }
    })
  }

  /**
   * Ends what runs of an agent and starts it anew, in a new container when `recreate` says so. It is wanted to
   * run throughout, so that a platform that dies half-way brings it back. One that stood still is started.
   */
  async function restart(agentId: string, { recreate }: { recreate: boolean }): Promise<StartReply> {
    const { reply, newSince } = await lock.run(agentId, async () => {
      const agent = await fresh(agentId)
      try {
        if (agent.desired === 'running') await letGo(agent)
        if (recreate) await machine.takeAway(await fresh(agentId))
      } catch (error) {
        throw engineFault(error)
      }
      return upAgain(await fresh(agentId), `Agent ${agent.name} restarted.`)
    })
    return newSince === null
      ? reply
      : { ...reply, skills_injection: await deps.deliverSkills(agentId, newSince) }
  }

  /** Makes an agent be as its row says; for the repair loop. Null: somebody else is at it. */
  async function bringInLine(agentId: string): Promise<boolean | null> {
    return lock.tryRun(agentId, async () => {
      const agent = await agentStore(db).byId(agentId)
      if (agent?.state !== 'ready') return false
      if (agent.desired === 'running' && !agent.held) return (await up(agent)).steps.length > 0
      if (agent.desired === 'stopped') return down(agent)
      // Held: it stays `exited`, and the engine must not start it again either.
      await machine.bringDown(agent, 0)
      return true
    })
  }

  /** With the lock held and `desired` running. */
  async function up(agent: Agent) {
    const { steps, reason, at, agent: started } = await machine.bringUp(agent)
    const recreated = steps.includes('create')
    // Before it counts as running: its first run has them.
    const injection = steps.includes('start') ? await deps.injectCredentials(started) : nothingInjected
    await db.atomically(async (tx) => {
      if (!(await settleRunning(tx, started, at, 'ready'))) return
      const { credentials_injection } = injection
      await tellStarted(tx, deps, started, { credentials_injection, recreated }, clock.now())
      agentRecords.changed(tx, agent.id)
    })
    return { steps, reason, at, recreated, port: started.port, injection }
  }

  /** With the lock held and `desired` stopped. */
  async function down(agent: Agent): Promise<boolean> {
    await machine.bringDown(agent, stopGraceSeconds)
    return db.atomically(async (tx) => settleStopped(tx, agent))
  }

  async function settleStopped(tx: Tx, agent: Agent): Promise<boolean> {
    const patch = { status: 'stopped' as const, observed_at: timestamp(clock.now()), started_at: null }
    const when = { desired: 'stopped' as const, status: ['running' as const, 'exited' as const] }
    if (!(await agentStore(tx).move(agent.id, when, patch))) return false
    const fields = { event: 'agent_stopped', data: { name: agent.name } }
    const event = { type: 'agent.stopped', agent_names: [agent.name], agent_ids: [agent.id], fields }
    await events.append(tx, event, clock.now())
    agentRecords.changed(tx, agent.id)
    return true
  }

  async function wish(
    agent: Agent,
    patch: { desired: 'running' | 'stopped'; held: number; recent_exits?: string },
  ): Promise<void> {
    await db.atomically(async (tx) => {
      await agentStore(tx).update(agent.id, patch)
      agentRecords.changed(tx, agent.id)
    })
  }

  async function fresh(agentId: string): Promise<Agent> {
    const agent = await agentStore(db).byId(agentId)
    if (agent?.state !== 'ready') throw new Fault('agent_not_found')
    return agent
  }

  return { start, stop, restart, bringInLine }
}

export type Operations = ReturnType<typeof createOperations>
