import type { Isolation } from '@roost/contracts/agents/isolation'
import type { Autonomy, Capacity, ReadOnlyConfig, Slot } from '@roost/contracts/agents/settings'
import type { AgentWayOut } from '@roost/contracts/link/egress'
import type { AgentSettings } from '@roost/contracts/link/messages'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Caller } from '../../identity/access/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Containers } from '../../ports/containers/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import {
  allowedRuntimes,
  currentRuntime,
  effectiveRuntime,
  engineFault,
  type Lifecycle,
  runtimeFloor,
} from '../lifecycle/index.ts'
import { type Agent, type AgentPatch, type AgentRecords, agentStore, requireAgent } from '../records/index.ts'
import { effectiveParallel, readOnlyConfigOf, resolveModel } from './rules.ts'

export type AgentSchedule = { id: string; name: string; enabled: boolean }
export type BlockingSchedule = { id: string; name: string; timeout_seconds: number }
export type Slots = { active: Slot[]; queued: number }

export type SettingsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'debug'>
  agentRecords: Pick<AgentRecords, 'changed' | 'byId' | 'all'>
  events: Pick<Outbox, 'append'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  /** The platform's limit for parallel executions of one agent. */
  parallelCeiling(): Promise<number>
  platformModel(): Promise<string | null>
  /**
   * Runs that hold a slot, and the number of queued ones. Texts of other people's private conversations are
   * omitted.
   */
  slotsOf(agentId: string, caller: Caller): Promise<Slots>
  schedulesOf(agentId: string): Promise<AgentSchedule[]>
  /** Schedules with their own timeout above `seconds`, locked until the transaction ends. */
  schedulesAbove(tx: Tx, agentId: string, seconds: number): Promise<BlockingSchedule[]>
  /** The agent's outbound proxy settings; null for direct access. */
  wayOut(agent: Agent): Promise<AgentWayOut | null>
  containers: Pick<Containers, 'ping'>
  lifecycle: Pick<Lifecycle, 'runtimePolicy'>
  chatIdleSeconds: number
  stallSeconds: number
  diskSeconds: number
}

/**
 * An agent's settings. Run settings apply to the next execution; a connected agent receives changes
 * immediately.
 */
export type Settings = {
  /** Settings sent to the agent's program when it connects and after each change. */
  forLink(agent: Agent): Promise<AgentSettings>
  /** Current limit for concurrent executions of the agent. */
  effectiveParallel(agent: Pick<Agent, 'max_parallel_tasks'>): Promise<number>
  resolvedModel(agent: Agent): Promise<ReturnType<typeof resolveModel>>
  autonomy(agent: Agent): Promise<Autonomy>
  capacity(agent: Agent, caller: Caller): Promise<Capacity>
  isolation(agent: Agent): Omit<Isolation, 'restart_needed'>
  /** Writes columns. Returns the updated agent and whether its running program applied the change. */
  change(agent: Agent, setting: string, patch: AgentPatch): Promise<Changed>
  setReadOnly(agent: Agent, enabled: boolean, config?: Partial<ReadOnlyConfig> | null): Promise<Changed>
  setTimeout(agent: Agent, seconds: number): Promise<Changed>
  setCapacity(agent: Agent, maxParallel: number): Promise<Changed>
  /** Sets the OCI runtime; null restores that of the installation. Throws `validation_error`. */
  setIsolation(agent: Agent, runtime: string | null): Promise<Changed>
  /** Sends the current settings to the running program; if that fails, it gets them when it reconnects. */
  tell(agent: Agent): Promise<Changed['applied']>
  readonly loops: Loop[]
}
export type Changed = { agent: Agent; applied: 'now' | 'next_start' }

export function createSettings(deps: SettingsDeps): Settings {
  const { db, clock, log, agentRecords, events, link, lifecycle } = deps

  async function settingsOf(agent: Agent): Promise<AgentSettings> {
    const { resolved_model } = resolveModel(agent, await deps.platformModel())
    return {
      agent_name: agent.name,
      read_only: { enabled: agent.read_only_enabled, ...readOnlyConfigOf(agent) },
      parallel_limit: effectiveParallel(agent.max_parallel_tasks, await deps.parallelCeiling()),
      model: resolved_model,
      chat_idle_seconds: deps.chatIdleSeconds,
      stall_seconds: deps.stallSeconds,
      disk_seconds: deps.diskSeconds,
      way_out: await deps.wayOut(agent),
    }
  }

  /** If this fails, the program gets the settings when it reconnects. */
  async function push(agent: Agent): Promise<'now' | 'next_start'> {
    if (agent.status !== 'running' || !link.isConnected(agent.id)) return 'next_start'
    try {
      await link.call(agent.id, 'settings', { settings: await settingsOf(agent) }, { timeoutSeconds: 5 })
      return 'now'
    } catch (error) {
      log.debug({ err: error, agent: agent.name }, 'could not send settings to an agent')
      return 'next_start'
    }
  }

  async function change(
    agent: Agent,
    setting: string,
    patch: AgentPatch,
    check: (tx: Tx) => Promise<void> = async () => {},
  ): Promise<Changed> {
    await db.atomically(async (tx) => {
      await check(tx)
      if (!(await agentStore(tx).update(agent.id, patch))) throw new Fault('agent_not_found')
      const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
      await events.append(tx, { ...event, fields: { setting } }, clock.now())
      agentRecords.changed(tx, agent.id)
    })
    const changed = await requireAgent(agentRecords, agent.id)
    return { agent: changed, applied: await push(changed) }
  }

  /** Throws `validation_error` for a runtime that the engine does not list or the installation does not allow. */
  async function refuseRuntime(runtime: string): Promise<void> {
    // Queries the engine again: its operator may just have registered the runtime.
    await deps.containers.ping().catch((error: unknown) => {
      throw engineFault(error)
    })
    const policy = lifecycle.runtimePolicy()
    const { listed } = policy.engine
    if (listed.length === 0) throw invalidField(['runtime'], 'must be null: this engine has no OCI runtimes')
    if (!listed.includes(runtime)) {
      throw invalidField(['runtime'], `must be one that the container engine lists: ${listed.join(', ')}`)
    }
    const allowed = allowedRuntimes(policy)
    if (allowed.includes(runtime)) return
    const floor = runtimeFloor(policy)
    throw invalidField(
      ['runtime'],
      `must not be weaker than ${floor}, the runtime of the installation; allowed: ${allowed.join(', ')}`,
    )
  }

  return {
    change: (agent, setting, patch) => change(agent, setting, patch),
    loops: [platformChangesLoop({ ...deps, push })],
    forLink: settingsOf,
    tell: push,
    effectiveParallel: async ({ max_parallel_tasks }) =>
      effectiveParallel(max_parallel_tasks, await deps.parallelCeiling()),
    resolvedModel: async (agent) => resolveModel(agent, await deps.platformModel()),

    async autonomy(agent) {
      const schedules = await deps.schedulesOf(agent.id)
      return {
        agent_name: agent.name,
        autonomy_enabled: agent.autonomy_enabled,
        enabled: agent.autonomy_enabled,
        total_schedules: schedules.length,
        enabled_schedules: schedules.filter((schedule) => schedule.enabled).length,
        schedules,
      }
    },

    async capacity(agent, caller) {
      const [ceiling, { active, queued }] = await Promise.all([
        deps.parallelCeiling(),
        deps.slotsOf(agent.id, caller),
      ])
      const effective = effectiveParallel(agent.max_parallel_tasks, ceiling)
      return {
        agent_name: agent.name,
        max_parallel_tasks: agent.max_parallel_tasks,
        ceiling,
        effective_max_parallel_tasks: effective,
        active_slots: active.length,
        available_slots: Math.max(0, effective - active.length),
        queued,
        slots: active,
      }
    },

    async setReadOnly(agent, enabled, config) {
      if (agent.is_system) throw new Fault('system_agent_protected')
      const patch: AgentPatch = { read_only_enabled: enabled ? 1 : 0 }
      if (config) patch.read_only_config = JSON.stringify({ ...readOnlyConfigOf(agent), ...config })
      return change(agent, 'read-only', patch)
    },

    setTimeout(agent, seconds) {
      return change(agent, 'timeout', { execution_timeout_seconds: seconds }, async (tx) => {
        const blocking = await deps.schedulesAbove(tx, agent.id, seconds)
        if (blocking.length === 0) return
        throw new Fault('agent_timeout_below_active_schedules', undefined, {
          requested_seconds: seconds,
          max_schedule_timeout_seconds: Math.max(...blocking.map((each) => each.timeout_seconds)),
          blocking_schedules: blocking,
        })
      })
    },

    async setCapacity(agent, maxParallel) {
      const ceiling = await deps.parallelCeiling()
      if (maxParallel > ceiling) {
        throw invalidField(['max_parallel_tasks'], `must be at most ${ceiling}, the platform's ceiling`)
      }
      return change(agent, 'capacity', { max_parallel_tasks: maxParallel })
    },

    isolation(agent) {
      const policy = lifecycle.runtimePolicy()
      return {
        agent_name: agent.name,
        runtime: agent.container_runtime,
        effective_runtime: effectiveRuntime(agent, policy),
        current_runtime: currentRuntime(agent, policy),
        installation_runtime: runtimeFloor(policy),
        available_runtimes: allowedRuntimes(policy),
      }
    },

    async setIsolation(agent, runtime) {
      if (runtime !== null) await refuseRuntime(runtime)
      return change(agent, 'isolation', { container_runtime: runtime })
    },
  }
}

/**
 * Pushes changed platform-wide settings to running agents. Without this, a raised ceiling would add no slots
 * until the agent reconnects.
 */
function platformChangesLoop(deps: {
  agentRecords: Pick<AgentRecords, 'all'>
  parallelCeiling(): Promise<number>
  platformModel(): Promise<string | null>
  /** Sends the settings to one agent if it is connected. */
  push(agent: Agent): Promise<unknown>
}): Loop {
  let lastPushed: string | null = null
  return {
    name: 'agents.platform-settings',
    everySeconds: 10,
    // Every process runs this, since any may hold an agent's link, and starts with the current values.
    everywhere: true,
    async run(signal) {
      const current = JSON.stringify([await deps.parallelCeiling(), await deps.platformModel()])
      const hasChanged = lastPushed !== null && lastPushed !== current
      lastPushed = current
      if (!hasChanged) return
      for (const agent of await deps.agentRecords.all()) {
        if (signal.aborted) return
        await deps.push(agent)
      }
    },
  }
}
