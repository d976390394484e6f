import type { RecreateReason } from '@roost/contracts/agents/agent'
import type { StartReply } from '@roost/contracts/agents/lifecycle'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { ContainerError } from '../../ports/containers/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import type { RuntimePolicy } from './container-runtime.ts'
import { createDetach, type Detach } from './detach.ts'
import { createLifecycleHooks, type LifecycleHooks } from './hooks.ts'
import { createLeftovers, type Leftovers } from './leftovers.ts'
import { createLock, type Lock, type LockDeps } from './lock.ts'
import { createMachine, type Machine, type MachineDeps } from './machine.ts'
import { createObserve, type ObserveDeps } from './observe.ts'
import { createOperations, type OperationDeps } from './operations.ts'
import { createPlacement, type PlacementDeps } from './placement.ts'
import { createSshPorts, type SshPorts } from './ports.ts'
import { createProtect, type ProtectDeps } from './protect.ts'
import { createRenew } from './renew.ts'
import { createRepair } from './repair.ts'
import { desiredFor, type PortRange, recreateReasonsOf, takeoverDue as takeoverDueOf } from './rules.ts'
import { createWatch } from './watch.ts'

export type Lifecycle = {
  /** Resolves when the container runs. Throws `agent_not_found`, `agent_busy`, `container_engine_error`. */
  start(agentId: string): Promise<StartReply>
  stop(agentId: string): Promise<{ message: string }>
  /** Resolves when the container runs again; starts a stopped agent. Throws as `start` does. */
  restart(agentId: string, how: { recreate: boolean }): Promise<StartReply>
  /** Applies a change that needs a new container; see `createRenew`. */
  renew: ReturnType<typeof createRenew>
  /** The container's current state at the engine; null if the engine does not answer, or is another machine's. */
  containerNow(agent: Agent): Promise<'running' | 'stopped' | null>
  /** Throws `container_engine_error` for an agent of another machine's engine. */
  refuseElsewhere(agent: Agent): Promise<void>
  /** Reasons why the next start creates a new container. */
  recreateReasons(agent: Agent): Promise<RecreateReason[]>
  /** What limits the agents' OCI runtimes now. */
  runtimePolicy(): RuntimePolicy
  hooks: LifecycleHooks
  /** For agent management, which creates and deletes agents. */
  lock: Lock
  machine: Machine
  detach: Detach
  ports: Pick<SshPorts, 'claim'>
  leftovers: Leftovers
  /** Compares all agents with the engine now. */
  repair(signal?: AbortSignal): Promise<void>
  loops: Loop[]
  /** Starts following the engine's events and reconciles every agent. */
  open(): void
  /** Resolves after the first comparison with the engine, or when that was abandoned. */
  compared(): Promise<void>
  close(): Promise<void>
}

export type LifecycleDeps = Omit<
  MachineDeps,
  'agentRecords' | 'clock' | 'lock' | 'log' | 'placement' | 'ports'
> & {
  clock: Clock
  log: Log
  agentRecords: Pick<AgentRecords, 'changed' | 'everyRow'>
  events: Pick<Outbox, 'append'>
  leases: LockDeps['leases']
  alerts: ObserveDeps['alerts']
  injectCredentials: OperationDeps['injectCredentials']
  deliverSkills: OperationDeps['deliverSkills']
  engine: PlacementDeps['engine']
  usedEngines: PlacementDeps['usedEngines']
  isOnlyMachine: PlacementDeps['isOnlyMachine']
  /** Deletes the key of an agent whose creation was interrupted. */
  undoCreation(tx: Tx, agentId: string): Promise<void>
  /** Seconds since the agent's last heartbeat; null before the first. */
  heartbeatAge(agentId: string): number | null
  runningSince: ProtectDeps['runningSince']
  newWorkspaces: OperationDeps['newWorkspaces']
  /** Removes the containers of workspaces that agents have left, as soon as their nodes answer. */
  clearFormer(): Promise<void>
  /** `lostNodeSeconds`: 0 means that lost agents wait for their node. */
  options: MachineDeps['options'] &
    Pick<ProtectDeps, 'evictionWaitSeconds'> & { sshPorts: PortRange; lostNodeSeconds: number }
}

export function createLifecycle(deps: LifecycleDeps): Lifecycle {
  const { db, clock, log, agentRecords, containers, events, images, leases, alerts } = deps
  const hooks = createLifecycleHooks()
  const startedAt = clock.now().getTime()
  const lock = createLock({ leases, clock })
  const range = containers.publishesSsh ? deps.options.sshPorts : null
  const ports = createSshPorts({ db, clock, agentRecords, events, range })
  const placement = createPlacement(deps)
  const machine = createMachine({ ...deps, lock, placement, ports })
  const detach = createDetach({ db, clock, agentRecords, machine, hooks })
  const observe = createObserve({ db, clock, agentRecords, events, alerts })
  const takeoverDue = async (agent: Agent): Promise<number | null> => {
    if (agent.waiting?.state !== 'lost') return null
    if (!agent.waiting.canMove && !(await deps.newWorkspaces.isAllowed(agent))) return null
    const ageSeconds = deps.heartbeatAge(agent.id)
    // A process that has just started has heard no heartbeat yet.
    const lastBeatAt = ageSeconds === null ? startedAt : clock.now().getTime() - ageSeconds * 1000
    return takeoverDueOf(agent.waiting, { lastBeatAt, limitSeconds: deps.options.lostNodeSeconds })
  }
  const operations = createOperations({
    db,
    clock,
    agentRecords,
    events,
    lock,
    machine,
    placement,
    detach,
    hooks,
    takeoverDue,
    newWorkspaces: deps.newWorkspaces,
    alerts,
    injectCredentials: deps.injectCredentials,
    deliverSkills: deps.deliverSkills,
  })
  const leftovers = createLeftovers({ db, clock, log, agentRecords, machine, placement })
  const { undoCreation, clearFormer } = deps
  const repair = createRepair({
    db,
    clock,
    log,
    agentRecords,
    containers,
    lock,
    observe,
    operations,
    takeoverDue,
    placement,
    leftovers,
    clearFormer,
    undoCreation,
  })
  const { evictionWaitSeconds } = deps.options
  const protect = createProtect({ ...deps, placement, evictionWaitSeconds })
  const watch = createWatch({
    clock,
    log,
    agentRecords,
    containers,
    observe,
    operations,
    repair,
    takeoverDue,
  })

  return {
    start: operations.start,
    stop: operations.stop,
    restart: operations.restart,
    renew: createRenew({ db, agentRecords, lock, machine, placement, detach }),
    async containerNow(agent) {
      const { container_id } = agent
      if (container_id === null) return 'stopped'
      try {
        if (!(await placement.isHere(agent))) return null
        return (await containers.inspect(container_id))?.status === 'running' ? 'running' : 'stopped'
      } catch (error) {
        if (error instanceof ContainerError) return null
        throw error
      }
    },
    async recreateReasons(agent) {
      if (!agent.applied) return []
      const { version } = images.tagFor(agent.runtime)
      const folders = await deps.foldersFor(agent)
      const desired = desiredFor(agent, version, folders, machine.runtimePolicy())
      return recreateReasonsOf(agent.applied, desired)
    },
    refuseElsewhere: placement.refuseElsewhere,
    runtimePolicy: machine.runtimePolicy,
    hooks,
    lock,
    machine,
    detach,
    ports,
    leftovers,
    repair: repair.pass,
    loops: [
      { name: 'agents.repair', everySeconds: 60, per: 'engine', run: repair.pass },
      ...(protect ? [protect] : []),
    ],
    open: watch.start,
    compared: watch.compared,
    close: watch.close,
  }
}
