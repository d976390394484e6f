import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { AgentsArea } from '../agents/area.ts'
import type { Loop } from '../background/loops.ts'
import type { Alerts } from '../foundation/alerts/index.ts'
import type { Leases } from '../foundation/leases/index.ts'
import type { Outbox } from '../foundation/outbox/index.ts'
import type { Settings } from '../foundation/settings/index.ts'
import type { Route } from '../http/route.ts'
import type { Clock } from '../kit/clock.ts'
import { isFault } from '../kit/fault.ts'
import type { AgentLink } from '../ports/agent-link/port.ts'
import type { Db } from '../ports/database/port.ts'
import type { Git } from '../ports/git/port.ts'
import type { Log } from '../ports/log.ts'
import { type Assignments, assignmentRoutes, createAssignments } from './assignments/index.ts'
import { createDelivery, createFleet, type Delivery, deliveryRoutes } from './delivery/index.ts'
import { createLibrary, type Library, libraryRoutes } from './library/index.ts'
import { createSources, type DefaultSource, type Sources, sourceRoutes } from './sources/index.ts'

export type SkillsAreaDeps = {
  db: Db
  clock: Clock
  log: Log
  leases: Leases
  events: Pick<Outbox, 'append' | 'on'>
  settings: Pick<Settings, 'skillsLibrary' | 'putSkillsLibrary' | 'providerKey'>
  agents: Pick<AgentsArea, 'agentRecords' | 'agentAccess' | 'hooks' | 'lifecycle'>
  link: AgentLink
  git: Git
  alerts: Alerts
  defaultSource: DefaultSource
  /** Absolute path of the skills that come with the platform. */
  bundledFolder: string
}

export type SkillsArea = {
  sources: Sources
  library: Library
  assignments: Assignments
  delivery: Delivery
  /** The section of the system prompt about the agent's skills. */
  block(agentId: string): Promise<string | null>
  /** Starts the delivery to an agent that has connected. */
  linkConnected(agentId: string): void
  /** False while skills are being delivered to a connected agent, which is woken afterwards. */
  mayBegin: Delivery['mayBegin']
  atStart: Delivery['atStart']
  routes: Route[]
  loops: Loop[]
  open(): Promise<void>
  /** Resolves when the community source was read, or reading it failed. */
  ready(): Promise<void>
  /** Waits for running deliveries; call it before the database closes. */
  close(): Promise<void>
}

const busyPauseMs = 15_000

/** Wires the features of the area: sources, library, assignments, delivery. */
export function createSkillsArea(deps: SkillsAreaDeps): SkillsArea {
  const { clock, log, agents, settings, alerts } = deps
  const { agentRecords } = agents
  const gitToken = () => settings.providerKey('github')?.reveal() ?? null
  const sources = createSources({ ...deps, removed: (tx, id) => library.sourceRemoved(tx, id) })
  const library: Library = createLibrary({
    ...deps,
    gitToken,
    changed: (trigger, commit) => fleet.changed(trigger, commit),
    autoSync: () => {
      const { auto_sync_enabled, auto_sync_interval_seconds } = settings.skillsLibrary()
      return { enabled: auto_sync_enabled, intervalSeconds: auto_sync_interval_seconds }
    },
  })
  const delivery = createDelivery({
    ...deps,
    agentRecords,
    library,
    gitToken,
    containerNow: agents.lifecycle.containerNow,
  })
  const isEnabled = () => settings.skillsLibrary().auto_reinject_enabled
  const fleet = createFleet({ ...deps, agentRecords, delivery, isEnabled })
  const assignments = createAssignments({
    ...deps,
    agentRecords,
    agentAccess: agents.agentAccess,
    library,
    deliver: delivery.deliver,
  })
  agents.hooks.onCreated(async (tx, { agent, skills }) => {
    const { unknown } = await assignments.assignInitial(tx, agent, skills, agent.owner)
    // The agent program may have connected before its row was committed.
    if (skills.length > 0) tx.onCommitted(() => delivery.greeted(agent.id))
    return { warnings: unknown.map((name) => `The library has no skill "${name}" of the template.`) }
  })
  agents.hooks.onForked(async (tx, { source, fork, by }) => {
    const { names, unknown } = await assignments.copy(tx, source.id, fork, by.user.username)
    if (names.length > 0) tx.onCommitted(() => delivery.greeted(fork.id))
    return { warnings: unknown.map((name) => `The library no longer has the skill "${name}".`) }
  })
  agents.hooks.onDeleting((tx, { agent }) => assignments.agentDeleted(tx, agent.id))
  let first: Promise<void> = Promise.resolve()
  const closing = new AbortController()

  /** Reads the bundled or configured community source at start. */
  async function syncDefault(): Promise<void> {
    await sources.ensureDefault()
    await deps.db.atomically((tx) => alerts.clear(tx, null, 'legacy_library_refused'))
    while (!closing.signal.aborted) {
      const own = (await sources.list()).find((source) => source.is_default && source.enabled)
      const isBundled = own?.url.startsWith('bundled:')
      if (!own || !(isBundled || own.last_sync_status === 'never')) return
      try {
        await library.syncSource(own.id, 'start')
        return
      } catch (error) {
        // A killed process may hold the lease, and no other process would retry.
        if (!isFault(error, 'sync_in_progress')) throw error
      }
      await clock.wait(busyPauseMs, closing.signal)
    }
  }

  /** Raises the alert for an invalid configured source. */
  const alertRefused = (reason: string) =>
    deps.db.atomically((tx) => alerts.raise(tx, refusedLibraryAlert(reason, deps.defaultSource)))

  return {
    sources,
    library,
    assignments,
    delivery,
    block: assignments.block,
    linkConnected: delivery.greeted,
    mayBegin: delivery.mayBegin,
    atStart: delivery.atStart,
    routes: [
      ...sourceRoutes(sources),
      ...libraryRoutes(library),
      // Before the routes with a skill name in the same position.
      ...deliveryRoutes({ delivery, fleet, settings }),
      ...assignmentRoutes(assignments),
    ],
    loops: [...library.loops, ...delivery.loops],
    async open() {
      assignments.open()
      // An unreadable source must not prevent the start.
      first = syncDefault().catch(async (error: unknown) => {
        log.warn({ err: error }, 'the community skills could not be read')
        if (isFault(error, 'invalid_skill_source')) await alertRefused(error.message)
      })
    },
    ready: () => first,
    async close() {
      closing.abort()
      assignments.close()
      await first
      await fleet.settled()
      await delivery.close()
    },
  }
}

function refusedLibraryAlert(reason: string, source: DefaultSource): PlatformAlert {
  return {
    agentId: null,
    kind: 'legacy_library_refused',
    title: 'The configured skill library was refused',
    question: `${reason} Skills that came from it earlier are unchanged. Correct ROOST_DEFAULT_SKILL_SOURCE and its ref, or add the repository as a source.`,
    priority: 'medium',
    context: source === null ? {} : { ref: source.ref },
  }
}
