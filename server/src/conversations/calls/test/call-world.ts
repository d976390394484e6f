import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type LiveServer, startLiveServer } from '@roost/test-support/live/index'
import { startTelephoneProvider, type TelephoneProvider } from '@roost/test-support/telephony/index'
import { createThrowawayVault, type Vault } from '../../../foundation/vault/index.ts'
import { serveSockets } from '../../../http/sockets.ts'
import { secret } from '../../../kit/secret.ts'
import type { Db } from '../../../ports/database/port.ts'
import { silentLog } from '../../../ports/log.ts'
import { createTwilio } from '../../../ports/telephony/twilio.ts'
import { createGeminiVoice } from '../../../ports/voice/gemini/gemini.ts'
import { type ExecutionRow, queueStore } from '../../../runs/executions/index.ts'
import { type AgentsPlatform, agentKey, startAgentsPlatform } from '../../../test/agents-platform.ts'
import { createTestClock, type TestClock } from '../../../test/clock.ts'
import { as, routesApp } from '../../../test/routes-app.ts'
import { linked, person, resultOf } from '../../../test/run-platform.ts'
import { type Calls, callRoutes, callSocketRoutes, createCalls } from '../index.ts'
import type { CallTables } from '../tables.ts'

/** A platform that makes calls over a provider and a model that speak their real protocols; the clock stands still. */
export type CallWorld = AsyncDisposable & {
  platform: AgentsPlatform
  calls: Calls
  clock: TestClock
  vault: Vault
  provider: TelephoneProvider
  live: LiveServer
  /** A request of this caller; `path` stands behind the agent's calls. */
  ask(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, options?: Asking): Promise<Asked>
  /** With the provider's account. */
  bind(over?: object): Promise<Asked>
  /** Rings `+15550123`. */
  call(over?: object, headers?: Record<string, string>): Promise<Asked>
  /** What the background loops do. */
  pass(): Promise<void>
  /** Takes the agent's next run and ends it so. */
  work(answer: string): Promise<{ message: string; execution_id: string }>
  /** The runs that wait for the agent, once there is one. */
  untilTask(): Promise<[ExecutionRow, ...ExecutionRow[]]>
  /** Resolves once so much was said in calls that go on. */
  untilLines(count: number): Promise<void>
  /** Whether the feature is switched on. */
  isOn: boolean
}

type Asking = { body?: object; who?: keyof typeof callers; headers?: Record<string, string> }
// Tests look into replies field by field.
// biome-ignore lint/suspicious/noExplicitAny: any reply
export type Asked = { status: number; json: any; headers: Headers }

const callers = {
  owner: { caller: person({ id: 'u-owner', role: 'creator' }), relation: 'owner' as const },
  shared: { caller: person(), relation: 'shared' as const },
  scout: { caller: agentKey('a1'), relation: 'self' as const },
  stranger: { caller: person({ id: 'u9' }), relation: null },
}
const never = new AbortController().signal
const voiceKey = 'voice-key'

export async function startCallWorld(
  db: Db,
  options: {
    /** Of another world, whose database this one shares: another process of the same installation. */
    beside?: Pick<CallWorld, 'provider' | 'vault'>
  } = {},
): Promise<CallWorld> {
  const clock = createTestClock()
  const platform = await startAgentsPlatform({ db, clock })
  const vault = options.beside?.vault ?? createThrowawayVault()
  const [provider, live] = [await startTelephoneProvider(), await startLiveServer({ key: voiceKey })]
  const server = createServer((request, response) => app.server.emit('request', request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // It listens on a port.
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const calls = createCalls({
    ...platform,
    log: silentLog,
    vault,
    telephony: createTwilio({ baseUrl: (options.beside?.provider ?? provider).url, fetch }),
    settle: platform.executions.settle,
    voice: createGeminiVoice({ baseUrl: live.url, model: 'gemini-3.8-live' }),
    voiceKey: () => secret(voiceKey),
    voiceOf: async () => ({ voice_name: null, prompt: 'Be kind.' }),
    baseUrl,
    isOn: () => world.isOn,
  })
  platform.works.register(calls.workState)
  const app = routesApp(callRoutes(calls), callers)
  await app.ready()
  const sockets = serveSockets(server, callSocketRoutes(calls), silentLog)

  const world: CallWorld = {
    platform,
    calls,
    clock,
    vault,
    provider,
    live,
    isOn: true,
    async ask(method, path, { body, who = 'owner', headers = {} } = {}) {
      const reply = await fetch(`${baseUrl}/api/agents/scout/voip${path}`, {
        method,
        headers: { ...as(who), ...headers },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return { status: reply.status, json: await reply.json(), headers: reply.headers }
    },
    bind: (over = {}) =>
      world.ask('PUT', '', {
        body: {
          account_sid: provider.account.sid,
          auth_token: provider.account.token,
          from_number: provider.account.number,
          ...over,
        },
      }),
    call: (over = {}, headers = {}) =>
      world.ask('POST', '/call', { who: 'scout', headers, body: { to_number: '+15550123', ...over } }),
    async pass() {
      for (const loop of calls.loops) await loop.run(never)
    },
    async untilTask() {
      return until(async () => {
        const [first, ...rest] = await queueStore(db).queuedOf('a1')
        return first ? [first, ...rest] : null
      })
    },
    async untilLines(count) {
      await until(async () => {
        const rows = await db.withTables<CallTables>().selectFrom('call_lines').select('n').execute()
        return rows.length >= count ? rows : null
      })
    },
    async work(answer) {
      const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
      const [run] = runs
      if (!run) throw new Error('Nothing was handed out.')
      await platform.dispatch.handlers.result(linked, resultOf(run, { response: answer }))
      return run
    },
    async [Symbol.asyncDispose]() {
      await calls.close()
      sockets.close()
      await provider.close()
      await live[Symbol.asyncDispose]()
      await app.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return world
}

/** Looks until there is something, for a minute at most. */
async function until<T>(look: () => Promise<T | null>): Promise<T> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    const found = await look()
    if (found !== null) return found
    await pause(20)
  }
  throw new Error('It never came to that.')
}

/** The record of a call's execution, once it has ended; looked at as long as a test is worth. */
export async function untilEnded(world: CallWorld, executionId: string) {
  const signal = AbortSignal.timeout(60_000)
  for await (const told of world.platform.executions.watch(executionId, { lines: false, signal })) {
    if (told.kind === 'end') return told.row
  }
  throw new Error('The call never ended.')
}
