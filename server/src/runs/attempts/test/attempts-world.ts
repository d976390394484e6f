import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PlatformCalls } from '@roost/contracts/link/messages'
import type { AttemptSet } from '@roost/contracts/runs/attempts'
import type { ExecutionErrorCode } from '@roost/contracts/runs/executions'
import { linkWorkspace } from '../../../agents/history/test/linked-workspace.ts'
import { agentStore } from '../../../agents/records/index.ts'
import { createShared, openAgents } from '../../../agents/test/world.ts'
import { createLeases } from '../../../foundation/leases/index.ts'
import { Fault } from '../../../kit/fault.ts'
import type { FakeAnswers } from '../../../ports/agent-link/fake.ts'
import type { Db } from '../../../ports/database/port.ts'
import { silentLog } from '../../../ports/log.ts'
import { startRunPlatform } from '../../../test/run-platform.ts'
import { executionStore } from '../../executions/index.ts'
import { type Attempts, attemptRoutes, createAttempts } from '../index.ts'
import { attemptStore } from '../store.ts'

export type AttemptsWorld = Awaited<ReturnType<typeof openAttempts>>
type CheckAnswer = PlatformCalls['check.run']['answer']

const passed: CheckAnswer = {
  ...{ state: 'ended', exit_code: 0, timed_out: false, output: 'ok', truncated: false, duration_ms: 5 },
}

/** Attempts of `ada`, on a fake engine; the programs of agents use temporary folders. */
export async function openAttempts(db: Db & AsyncDisposable, options: Parameters<typeof openAgents>[1] = {}) {
  // Programs of forks have folders of their own, which no layer fills.
  const shared = createShared({ canLayer: false })
  const runs = await startRunPlatform({ db, clock: shared.clock, ephemeral: shared.ephemeral })
  let build: () => Attempts = () => assert.fail('not built')
  const running = { ids: [] as string[] }
  const world = await openAgents(db, {
    shared,
    ...options,
    needs: { lockRuns: async () => running.ids, ...options.needs },
    routes: (area) => {
      build = () =>
        createAttempts({
          ...{ db, clock: shared.clock, log: silentLog, events: runs.events },
          leases: createLeases({ db, clock: shared.clock }),
          users: world.identity.users,
          link: {
            ...world.link,
            isHere: (id) => !state.isElsewhere && world.link.isHere(id),
          },
          hasSeveralMachines: async () => state.isElsewhere,
          ...{
            agentRecords: area.agentRecords,
            agentManagement: area.agentManagement,
            agentHooks: area.hooks,
          },
          ...{ forks: area.forks, bases: area.bases, history: area.history },
          ...{ workspaceHistory: world.history, hooks: runs.hooks },
          dispatch: {
            transaction: runs.dispatch.transaction,
            enqueue: runs.dispatch.enqueue,
            async checkAgent(id) {
              const found = await area.runContexts.find(id)
              if (!found) throw new Fault('agent_not_found')
              // The platform of runs has agents of its own.
              runs.agents.set(id, found)
              return found
            },
          },
          secretsOf: async () => ['hunter2-hunter2'],
        })
      // The instance of a test may be replaced by that of another process.
      const latest = new Proxy({} as Attempts, { get: (_, name) => Reflect.get(state.attempts ?? {}, name) })
      return attemptRoutes(latest)
    },
  })
  const state: {
    attempts: Attempts | null
    checks: (number: number) => Promise<CheckAnswer>
    /** The agents are connected to another machine. */
    isElsewhere: boolean
  } = {
    attempts: null,
    isElsewhere: false,
    checks: async () => passed,
  }
  state.attempts = build()
  const owner = await world.person()
  await world.request(owner.key, 'POST', '/api/agents', { name: 'ada' })
  const source = await world.row('ada')
  const ready: FakeAnswers = {
    info: async () => ({ template_yaml: null, metrics_json: null }) as PlatformCalls['info']['answer'],
    'credentials.render': async () =>
      ({ ok: true }) as unknown as PlatformCalls['credentials.render']['answer'],
    'check.run': ({ check_id }) => state.checks(Number(check_id.split('-').at(-1))),
  }
  const workspaces = new Map([[source.id, linkWorkspace(world.link, source.id, ready)]])
  const store = attemptStore(db)

  /** Links the programs of new forks, as their containers would. */
  async function linkForks(): Promise<void> {
    for (const { id, attempt_set_id } of await agentStore(db).all())
      if (attempt_set_id !== null && !workspaces.has(id))
        workspaces.set(id, linkWorkspace(world.link, id, ready))
  }

  async function tick(): Promise<void> {
    await linkForks()
    await world.clock.advance(0.05)
    for (const { name, run } of [...(state.attempts?.loops ?? []), ...world.area.history.loops])
      if (name === 'runs.attempts' || name === 'agents.restores') await run(new AbortController().signal)
  }

  async function eventually<T>(look: () => Promise<T | null | false>, what: string): Promise<T> {
    for (let tries = 0; tries < 2000; tries += 1) {
      const found = await look()
      if (found) return found
      await tick()
      await new Promise((done) => setImmediate(done))
    }
    assert.fail(
      `Timeout: ${what} ${JSON.stringify(await store.attempts((await store.open()).map(({ id }) => id)))}`,
    )
  }

  const path = (id: string, rest = '') => `/api/agents/ada/attempts/${id}${rest}`
  async function get(id: string): Promise<AttemptSet> {
    const reply = await world.request(owner.key, 'GET', path(id))
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    return reply.json
  }

  function write(home: string, name: string, content: string): void {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), content)
  }

  return {
    ...{ world, runs, owner, source, state, running, store, path, get, tick, eventually, workspaces },
    db,
    home: workspaces.get(source.id)?.home ?? '',
    /** Writes into the workspace of the source. */
    write(name: string, content: string) {
      const workspace = workspaces.get(source.id) ?? assert.fail()
      write(workspace.home, name, content)
      workspace.wrote()
    },
    async start(body: object = {}, key = owner.key) {
      return world.request(key, 'POST', '/api/agents/ada/attempts', { messages: ['Do it'], ...body })
    },
    async begin(body: object = {}, key = owner.key): Promise<string> {
      const reply = await world.request(key, 'POST', '/api/agents/ada/attempts', {
        messages: ['Do it'],
        ...body,
      })
      assert.equal(reply.status, 202, JSON.stringify(reply.json))
      return reply.json.id
    },
    until: (id: string, isReached: (set: AttemptSet) => boolean, what = 'state') =>
      eventually(async () => {
        const set = await get(id)
        return isReached(set) && set
      }, what),
    /** Ends the run of an attempt as its program would, after its changes. */
    async finish(
      id: string,
      number: number,
      files: Record<string, string> = {},
      over: { error_code?: ExecutionErrorCode; cost?: number } = {},
    ): Promise<void> {
      const attempt = await eventually(async () => {
        const found = (await store.attempts([id])).find((each) => each.number === number)
        return found?.status === 'running' && found
      }, `attempt ${number} runs`)
      const workspace = workspaces.get(attempt.agent_id ?? '') ?? assert.fail()
      for (const [name, content] of Object.entries(files)) write(workspace.home, name, content)
      workspace.wrote()
      const row = (await executionStore(db).byId(attempt.execution_id ?? '')) ?? assert.fail()
      if (over.cost !== undefined)
        await executionStore(db).addUsage(row.id, {
          ...{
            requests: 1,
            input_tokens: 1,
            output_tokens: 1,
            cache_creation_tokens: 0,
            cache_read_tokens: 0,
          },
          ...{ context_used: 1, context_max: 0, model: null, is_cost_estimated: false },
          cost_micros: over.cost * 1_000_000,
        })
      await db.atomically((tx) =>
        runs.executions.settle(
          tx,
          row,
          { statuses: [row.status] },
          over.error_code
            ? { status: 'failed', error: 'It failed.', error_code: over.error_code }
            : { status: 'success', response: `Result ${number}` },
        ),
      )
    },
    /** As after a kill: another process goes on, once the leases have ended. */
    async takeOver(): Promise<void> {
      state.attempts = build()
      await world.clock.advance(15)
    },
    containers: async () => (await world.containers.list()).length,
    async [Symbol.asyncDispose]() {
      await state.attempts?.close()
      await world.area.history.restores.close()
      for (const workspace of workspaces.values()) await workspace[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}
