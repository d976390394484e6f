import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import type { AgentsTable } from '../../../agents/records/index.ts'
import { createProviderTest } from '../../../foundation/settings/index.ts'
import type { Db } from '../../../ports/database/port.ts'
import type { Log } from '../../../ports/log.ts'
import { startAgentsPlatform } from '../../../test/agents-platform.ts'
import { createTestAlerts } from '../../../test/alerts.ts'
import { createTestClock } from '../../../test/clock.ts'
import { as, routesApp } from '../../../test/routes-app.ts'
import { accept, person } from '../../../test/run-platform.ts'
import { runtimeFor } from '../../broker/test/broker-world.ts'
import { providerSubscriptionRoutes } from '../routes.ts'

export type ProviderRequest = { key: string; beta: string | undefined; path: string }

export type WorldOptions = {
  db: Db
  /** Replaces the provider of this world. */
  providerUrl?: string
  providerKey?: string | null
  agents?: Record<string, Partial<AgentsTable>>
  isAutoSwitchOn?: () => boolean
}

/** The broker and routes of a platform, with a provider whose response to each credential is configurable. */
export async function startWorld({ db, agents, ...options }: WorldOptions) {
  const clock = createTestClock()
  const written: string[] = []
  const { alerts, raised } = createTestAlerts()
  const requests: ProviderRequest[] = []
  /** Status by credential; default 200. */
  const statuses = new Map<string, number>()
  /** Body of a refusal, by credential. */
  const refusals = new Map<string, object>()
  const provider = await listen(async (request, response) => {
    for await (const _ of request);
    const { authorization, 'x-api-key': apiKey, 'anthropic-beta': beta } = request.headers
    const key = authorization?.replace('Bearer ', '') ?? String(apiKey ?? request.headers['x-goog-api-key'])
    requests.push({ key, beta: beta === undefined ? undefined : String(beta), path: request.url ?? '' })
    const status = statuses.get(key) ?? 200
    const headers = {
      'content-type': 'application/json',
      ...(status === 429 ? { 'retry-after': '600' } : {}),
    }
    response.writeHead(status, headers)
    response.end(JSON.stringify(status === 200 ? message : (refusals.get(key) ?? refusal)))
  })
  const platform = await startAgentsPlatform(
    {
      db,
      clock,
      log: logInto(written),
      alerts,
      ...options,
      providerUrl: options.providerUrl ?? provider.url,
    },
    agents,
  )
  const broker = await listen((request, response) => platform.broker.handle(request, response))
  const addresses = {
    anthropic: provider.url,
    google: provider.url,
    openai: provider.url,
    github: provider.url,
  }
  const testProvider = createProviderTest({ fetch, addresses })
  const app = routesApp(
    providerSubscriptionRoutes({ subscriptions: platform.providerSubscriptions, testProvider }),
    {
      admin: { caller: person({ role: 'admin' }), relation: 'owner' },
      bob: { caller: person({ id: 'u2', username: 'bob', email: null }), relation: 'shared' },
    },
  )

  async function call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    payload?: object,
    who = 'admin',
  ) {
    const url = `/api/subscriptions${path}`
    const reply = await app.inject({ method, url, headers: as(who), ...(payload ? { payload } : {}) })
    written.push(reply.body)
    return { status: reply.statusCode, json: reply.json() }
  }

  /** Starts a run of an agent and returns a function that sends one request to the broker. */
  async function run(agentId = 'a1', agentName = 'scout') {
    await accept(platform, { agentId })
    const linked = { agentId, agentName, keyId: 'k1' }
    const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const claimed = runs[0] ?? assert.fail('no run was claimed')
    return async (path = '/v1/messages', content = 'hello', provider = 'anthropic') => {
      platform.runtime.name = runtimeFor(provider)
      const reply = await fetch(`${broker.url}/broker/${provider}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': claimed.broker.token, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'claude-sonnet-4-5',
          max_tokens: 9,
          messages: [{ role: 'user', content }],
        }),
      })
      const text = await reply.text()
      const headers = Object.fromEntries(reply.headers)
      written.push(text, JSON.stringify(headers))
      return { status: reply.status, headers, text }
    }
  }

  return {
    ...{ platform, clock, written, alerts: raised, requests, statuses, refusals, call, run },
    async events(type: string): Promise<number> {
      const rows = platform.db.withTables<{ outbox: { type: string } }>().selectFrom('outbox')
      return (await rows.select('type').where('type', '=', type).execute()).length
    },
    add: (name: string, token: string, more: object = {}) => call('POST', '', { name, token, ...more }),
    async [Symbol.asyncDispose]() {
      await app.close()
      platform.broker.close()
      broker.close()
      provider.close()
    },
  }
}

const refusal = { type: 'error', error: { type: 'x', message: 'no' } }
const message = {
  type: 'message',
  model: 'claude-sonnet-4-5',
  usage: { input_tokens: 1000, output_tokens: 100 },
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // listens on a port, not on a pipe
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Records every log call before redaction. */
function logInto(written: string[]): Log {
  const write = (fields: Record<string, unknown>, text: string) =>
    void written.push(text, inspect(fields, { depth: null, showHidden: true }))
  const log: Log = {
    ...{ debug: write, info: write, warn: write, error: write },
    child: () => log,
    isDebug: () => true,
  }
  return log
}
