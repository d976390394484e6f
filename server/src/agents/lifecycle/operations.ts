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
import { type BroughtUp, type Machine, stopGraceSeconds } from './machine.ts'
import { appendStarted, type ObserveDeps, settleStart } from './observe.ts'
import type { Placement } from './placement.ts'

export type OperationDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'changed'>
  events: Pick<Outbox, 'append'>
  lock: Lock
  machine: Machine
  placement: Pick<Placement, 'refuseElsewhere'>
  detach: Detach
  hooks: LifecycleHooks
  alerts: ObserveDeps['alerts']
  /** Checks the credentials of a container that just started; never throws. */
  injectCredentials(agent: Agent): Promise<Injection>
  /** Time in milliseconds at which a lost agent may be started on another node; null: never. */
  takeoverDue(agent: Agent): Promise<number | null>
  newWorkspaces: NewWorkspaces
  /** Waits for the skills of a container started at `since`; null without skills. */
  deliverSkills(agentId: string, since: Date): Promise<SkillDelivery | null>
}

/** What an agent continues with if its node is lost and its volumes cannot move. */
export type NewWorkspaces = {
  /** Whether the owner allows it and there is a record. */
  isAllowed(agent: Agent): Promise<boolean>
  /** Gives the agent new volumes, to be filled from its latest record. Returns false if that is not allowed any more. */
  open(tx: Tx, agent: Agent): Promise<boolean>
}

export type Injection = Pick<StartReply, 'credentials_injection' | 'credentials_result'>
const nothingInjected: Injection = { credentials_injection: 'nothing_to_inject', credentials_result: null }

/** Start, stop, restart and repair: each writes the desired state, then applies it. */
export function createOperations(deps: OperationDeps) {
  const { db, clock, agentRecords, events, lock, machine, placement, detach, hooks } = deps

  async function start(agentId: string): Promise<StartReply> {
    const { reply, newSince } = await startNow(agentId)
    if (newSince === null) return reply
    // Without the lock, so that a stop does not wait for skills.
    return { ...reply, skills_injection: await deps.deliverSkills(agentId, newSince) }
  }

  /** `newSince` is null when the agent was already running. */
  async function startNow(agentId: string): Promise<{ reply: StartReply; newSince: Date | null }> {
    return lock.run(agentId, async () => {
      const agent = await currentAgent(agentId)
      await placement.refuseElsewhere(agent)
      return ensureRunning(agent, `Agent ${agent.name} started.`)
    })
  }

  /** Requires the lock. `done` is the message used when there was anything to do. */
  async function ensureRunning(
    agent: Agent,
    done: string,
  ): Promise<{ reply: StartReply; newSince: Date | null }> {
    if (agent.desired !== 'running' || agent.held || agent.recent_exits.length > 0) {
      await setDesired(agent, { desired: 'running', held: 0, recent_exits: '[]' })
    }
    try {
      const { steps, reason, at, recreated, port, injection, waiting } = await up(agent)
      const reply = {
        message: messageOf(agent, done, { steps, waiting }),
        ...injection,
        skills_injection: null,
        recreated,
        recreate_reason: reason,
        port,
      }
      return { reply, newSince: steps.includes('start') && !waiting ? at : null }
    } catch (error) {
      // After a reported failure the agent must not be found running later.
      await setDesired(agent, { desired: agent.desired, held: agent.held ? 1 : 0 })
      throw engineFault(error)
    }
  }

  function messageOf(agent: Agent, done: string, { steps, waiting }: Pick<BroughtUp, 'steps' | 'waiting'>) {
    if (waiting) return `Agent ${agent.name} waits to start: ${waiting.reason}`
    return steps.length > 0 ? done : `Agent ${agent.name} is already running.`
  }

  async function stop(agentId: string): Promise<{ message: string }> {
    return lock.run(agentId, async () => {
      const agent = await currentAgent(agentId)
      await placement.refuseElsewhere(agent)
      if (agent.desired === 'running') {
        await db.atomically(async (tx) => {
          const patch = { desired: 'stopped' as const, held: 0, recent_exits: '[]', waiting: null }
          await agentStore(tx).update(agent.id, patch)
          await hooks.stopping(tx, agent, clock.now())
          agentRecords.changed(tx, agent.id)
        })
      }
      try {
        const stopped = await down(agent)
        return {
          message: stopped ? `Agent ${agent.name} stopped.` : `Agent ${agent.name} is already stopped.`,
        }
      } catch (error) {
        throw engineFault(error)
      }
    })
  }

  /**
   * Stops a running agent and starts it again, in a new container if `recreate` is set. The desired state
   * stays `running`, so a platform crash in between is repaired. A stopped agent is started.
   */
  async function restart(agentId: string, { recreate }: { recreate: boolean }): Promise<StartReply> {
    const { reply, newSince } = await lock.run(agentId, async () => {
      const agent = await currentAgent(agentId)
      await placement.refuseElsewhere(agent)
      try {
        if (agent.desired === 'running') await detach(agent)
        if (recreate) await machine.removeContainer(await currentAgent(agentId))
      } catch (error) {
        throw engineFault(error)
      }
      return ensureRunning(await currentAgent(agentId), `Agent ${agent.name} restarted.`)
    })
    return newSince === null
      ? reply
      : { ...reply, skills_injection: await deps.deliverSkills(agentId, newSince) }
  }

  /** Applies an agent's desired state, for the repair loop. Null: another operation is running. */
  async function reconcile(agentId: string): Promise<boolean | null> {
    return lock.tryRun(agentId, async () => {
      const agent = await agentStore(db).byId(agentId)
      if (agent?.state !== 'ready') return false
      if (agent.desired === 'running' && !agent.held) {
        const due = await deps.takeoverDue(agent)
        const takesOver = due !== null && due <= clock.now().getTime()
        const current = takesOver && (await cannotMove(agent)) ? await inNewWorkspace(agent) : agent
        return (await up(current, { takesOver })).steps.length > 0
      }
      if (agent.desired === 'stopped') return down(agent)
      // A held agent stays `exited`; the engine must not restart it either.
      await machine.bringDown(agent, 0)
      return true
    })
  }

  /** Only the engine knows: the row may be older than the volumes' present state, or incomplete. */
  async function cannotMove(agent: Agent): Promise<boolean> {
    const waiting = await machine.waitingNow(agent)
    return waiting?.state === 'lost' && !waiting.canMove
  }

  /** Requires the lock. The lost container keeps the former volumes, and can do nothing at the platform any more. */
  async function inNewWorkspace(agent: Agent): Promise<Agent> {
    const isOpen = await db.atomically(async (tx) => {
      if (!(await deps.newWorkspaces.open(tx, agent))) return false
      agentRecords.changed(tx, agent.id)
      return true
    })
    return isOpen ? currentAgent(agent.id) : agent
  }

  /** Requires the lock and desired state `running`. */
  async function up(agent: Agent, options?: { takesOver: boolean }) {
    const brought = await machine.bringUp(agent, options)
    const { steps, reason, at, agent: started, waiting } = brought
    const recreated = steps.includes('create')
    // A container that waited has started since the last operation.
    const isNew = waiting === null && (steps.includes('start') || agent.waiting !== null)
    // Before the status becomes `running`, so that the first run has the credentials.
    const injection = isNew ? await deps.injectCredentials(started) : nothingInjected
    await db.atomically(async (tx) => {
      const settled = await settleStart(tx, started, brought, 'ready')
      if (settled) agentRecords.changed(tx, agent.id)
      if (settled !== 'running') return
      const { credentials_injection } = injection
      await appendStarted(tx, deps, started, { credentials_injection, recreated }, clock.now())
    })
    return { steps, reason, at, recreated, port: started.port, injection, waiting }
  }

  /** Requires the lock and desired state `stopped`. */
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

  async function setDesired(
    agent: Agent,
    patch: { desired: 'running' | 'stopped'; held: number; recent_exits?: string },
  ): Promise<void> {
    await db.atomically(async (tx) => {
      await agentStore(tx).update(agent.id, patch)
      agentRecords.changed(tx, agent.id)
    })
  }

  async function currentAgent(agentId: string): Promise<Agent> {
    const agent = await agentStore(db).byId(agentId)
    if (agent?.state !== 'ready') throw new Fault('agent_not_found')
    return agent
  }

  return { start, stop, restart, reconcile }
}

export type Operations = ReturnType<typeof createOperations>
