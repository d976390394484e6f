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

/** A platform that calls through fake servers with the providers' real protocols. The test moves the clock. */
export type CallWorld = AsyncDisposable & {
  platform: AgentsPlatform
  calls: Calls
  clock: TestClock
  vault: Vault
  provider: TelephoneProvider
  live: LiveServer
  /** Sends a request of this caller; `path` is relative to the agent's calls. */
  ask(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, options?: RequestOptions): Promise<CallReply>
  /** Uses the provider's account. */
  bind(overrides?: object): Promise<CallReply>
  /** Calls `+15550123`. */
  call(overrides?: object, headers?: Record<string, string>): Promise<CallReply>
  /** Runs each background loop once. */
  runLoops(): Promise<void>
  /** Claims the agent's next run and ends it with this answer. */
  work(answer: string): Promise<{ message: string; execution_id: string }>
  /** The queued runs of the agent, once there is one. */
  untilTask(): Promise<[ExecutionRow, ...ExecutionRow[]]>
  /** Resolves when open calls have this many transcript lines. */
  untilLines(count: number): Promise<void>
  /** Whether the feature is enabled. */
  isOn: boolean
}

type RequestOptions = { body?: object; who?: keyof typeof callers; headers?: Record<string, string> }
// Tests read replies field by field.
// biome-ignore lint/suspicious/noExplicitAny: any reply
export type CallReply = { status: number; json: any; headers: Headers }

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
    /** Another process of the same installation: shares the database of that world. */
    beside?: Pick<CallWorld, 'provider' | 'vault'>
  } = {},
): Promise<CallWorld> {
  const clock = createTestClock()
  const platform = await startAgentsPlatform({ db, clock })
  const vault = options.beside?.vault ?? createThrowawayVault()
  const [provider, live] = [await startTelephoneProvider(), await startLiveServer({ key: voiceKey })]
  const server = createServer((request, response) => app.server.emit('request', request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The server listens on a TCP port.
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
    bind: (overrides = {}) =>
      world.ask('PUT', '', {
        body: {
          account_sid: provider.account.sid,
          auth_token: provider.account.token,
          from_number: provider.account.number,
          ...overrides,
        },
      }),
    call: (overrides = {}, headers = {}) =>
      world.ask('POST', '/call', { who: 'scout', headers, body: { to_number: '+15550123', ...overrides } }),
    async runLoops() {
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

/** Polls until there is a result, for at most a minute. */
async function until<T>(read: () => Promise<T | null>): Promise<T> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    const found = await read()
    if (found !== null) return found
    await pause(20)
  }
  throw new Error('Timed out after a minute.')
}

/** The execution of a call after it has ended; waits at most a minute. */
export async function untilEnded(world: CallWorld, executionId: string) {
  const signal = AbortSignal.timeout(60_000)
  const row = await world.platform.executions.untilEnd(executionId, signal)
  if (row) return row
  throw new Error('The call never ended.')
}
