import { CreateAgent } from '@roost/contracts/agents/registry'
import { CanvasBody, mainCanvas } from '@roost/contracts/conversations/canvas'
import type { DemoStatus } from '@roost/contracts/operations/demo'
import type { AgentManagement } from '../../agents/management/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { SessionCaller } from '../../identity/access/index.ts'
import { callerUser, firstAdminName, type Users } from '../../identity/users/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Dispatch, sourceOf } from '../../runs/dispatch/index.ts'
import { type DemoAgent, demoAgents } from './content.ts'
import { createPast, type PastDeps } from './past.ts'
import { type DemoAgentRow, demoStore } from './store.ts'

export type DemoDeps = PastDeps & {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'info'>
  isDemo: boolean
  users: Pick<Users, 'findLogin'>
  agentRecords: Pick<AgentRecords, 'byId' | 'byName'>
  agentManagement: Pick<AgentManagement, 'create' | 'remove'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  canvases: {
    put(agent: { id: string; name: string }, canvasId: string, body: CanvasBody): Promise<unknown>
  }
  removeRuns(agentIds: readonly string[]): Promise<void>
}

export type Demo = {
  status(): Promise<DemoStatus>
  /** Returns the names of the removed agents. Safe to repeat. Throws `agent_busy`. */
  remove(): Promise<string[]>
  loops: Loop[]
}

export function createDemo(deps: DemoDeps): Demo {
  const { db, clock, log, agentRecords, agentManagement, dispatch, canvases } = deps
  const store = demoStore(db)
  const past = createPast(deps)
  let isComplete = false

  const existing = async (rows: readonly DemoAgentRow[]) => {
    const agents = await Promise.all(rows.map(({ agent_id }) => agent_id && agentRecords.byId(agent_id)))
    return agents.filter((agent) => agent !== null && agent !== '')
  }

  /** Every demo agent belongs to the first admin, who exists after the setup. */
  async function ownerOf(): Promise<SessionCaller | null> {
    const account = (await deps.users.findLogin(firstAdminName))?.account
    if (!account) return null
    const session = { jti: 'demo', mode: 'admin' as const, expires_at: timestamp(clock.now()) }
    return { kind: 'session', user: callerUser(account), session }
  }

  /** Creates the agent with its history and its row in one transaction, so that a killed attempt leaves neither. */
  async function create(owner: SessionCaller, demo: DemoAgent): Promise<void> {
    const { name } = demo.body
    const row = { name, seeded_at: timestamp(clock.now()), started_at: null, removed_at: null }
    if (await agentRecords.byName(name)) {
      await store.add({ ...row, agent_id: null })
      return
    }
    const body = CreateAgent.parse({ ...demo.body, runtime_model: demo.model, tags: ['demo'] })
    await agentManagement.create(owner, body, undefined, {
      columns: demo.columns,
      fill: async () => {},
      async publish(tx, agent, now) {
        const isNew = await demoStore(tx).add({ ...row, agent_id: agent.id })
        if (!isNew) throw new Fault('conflict', 'The demo data was removed meanwhile.')
        await past.write(tx, { agent, demo, owner, now })
        return { schedules_created: demo.schedule ? 1 : 0 }
      },
    })
    log.info({ agent: name }, 'created a demo agent')
  }

  /** Starts the first runs once. */
  async function start(owner: SessionCaller, demo: DemoAgent, agentId: string): Promise<void> {
    const now = clock.now()
    const { name } = demo.body
    try {
      const agent = await dispatch.checkAgent(agentId)
      if (demo.canvas) await canvases.put(agent, mainCanvas, CanvasBody.parse(demo.canvas(now)))
      await dispatch.transaction(
        async (tx) => {
          if (!(await demoStore(tx).markStarted(name, timestamp(now)))) return
          for (const message of demo.messages) {
            await dispatch.enqueue(tx, agent, {
              agentId,
              kind: 'task',
              triggeredBy: 'manual',
              message,
              source: sourceOf(owner, null),
            })
          }
        },
        { kind: 'accept', about: agentId },
      )
    } catch (error) {
      if (!isFault(error, 'agent_not_found')) throw error
      // A person deleted it.
      await store.markStarted(name, timestamp(now))
    }
  }

  async function seed(signal: AbortSignal): Promise<void> {
    if (isComplete) return
    const owner = await ownerOf()
    if (!owner) return
    for (const demo of demoAgents) {
      const find = async () => (await store.all()).find(({ name }) => name === demo.body.name)
      if (signal.aborted) return
      if (!(await find())) await create(owner, demo)
      const row = await find()
      if (row?.agent_id && isUnstarted(row)) await start(owner, demo, row.agent_id)
    }
    isComplete = true
  }

  return {
    async status() {
      const rows = await store.all()
      const agents = await existing(rows)
      return {
        state: deps.isDemo ? stateOf(rows) : 'off',
        agents: agents.map(({ name }) => name).toSorted(),
        seeded_at: rows.map(({ seeded_at }) => seeded_at).toSorted()[0] ?? null,
      }
    },

    async remove() {
      const at = timestamp(clock.now())
      const rows = await db.atomically(async (tx) => {
        const on = demoStore(tx)
        // Rows of agents that do not exist yet keep a running creation from publishing them.
        for (const { body } of demoAgents) {
          await on.add({ name: body.name, agent_id: null, seeded_at: at, started_at: null, removed_at: at })
        }
        await on.markRemoved(at)
        return on.all()
      })
      const agents = await existing(rows)
      for (const { id } of agents) await agentManagement.remove(id)
      await deps.removeRuns(rows.flatMap(({ agent_id }) => agent_id ?? []))
      return agents.map(({ name }) => name)
    },

    loops: deps.isDemo ? [{ name: 'operations.demo', everySeconds: 5, run: seed, deadlineSeconds: 600 }] : [],
  }
}

function isUnstarted({ agent_id, started_at, removed_at }: DemoAgentRow): boolean {
  return agent_id !== null && started_at === null && removed_at === null
}

function stateOf(rows: readonly DemoAgentRow[]): DemoStatus['state'] {
  if (rows.some(({ removed_at }) => removed_at !== null)) return 'removed'
  return rows.length < demoAgents.length || rows.some(isUnstarted) ? 'waiting' : 'ready'
}
