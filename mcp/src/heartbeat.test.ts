import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '@roost/contracts/client'
import { startHeartbeat } from './heartbeat.ts'

const build = { version: '1.2.3', commit: null }

/** An API that records the calls, and fails while `isAway`. */
function openApi() {
  const calls: { id: string; replica: string; body: unknown }[] = []
  const watchers = new Set<() => void>()
  const api = {
    calls,
    isAway: false,
    async until(count: number) {
      while (calls.length < count) await new Promise<void>((resolve) => watchers.add(resolve))
    },
    client: {
      async call(endpoint: { id: string }, input: { params: { replica_id: string }; body?: unknown }) {
        calls.push({ id: endpoint.id, replica: input.params.replica_id, body: input.body })
        for (const watcher of watchers) watcher()
        if (api.isAway) throw new Error('away')
        return { next_seconds: 0.001 }
      },
    } as unknown as Pick<Client, 'call'>,
  }
  return api
}

test('reports the process until it stops, and then removes it', async () => {
  const api = openApi()
  const heartbeat = startHeartbeat(api.client, build, { info() {}, warn: () => assert.fail() })
  await api.until(3)
  await heartbeat.stop()
  const last = api.calls.at(-1)
  assert.equal(last?.id, 'removeReplica')
  assert.ok(api.calls.slice(0, -1).every(({ id }) => id === 'reportReplica'))
  assert.equal(new Set(api.calls.map(({ replica }) => replica)).size, 1)
  const first = api.calls[0]?.body as Record<string, unknown> | undefined
  assert.deepEqual([first?.role, first?.process_id, first?.version], ['mcp', process.pid, '1.2.3'])
})

test('an API that does not answer is logged once and stops nothing', async () => {
  const api = openApi()
  api.isAway = true
  const warnings: string[] = []
  const heartbeat = startHeartbeat(api.client, build, {
    info() {},
    warn: (_fields, message) => void warnings.push(message),
  })
  await api.until(1)
  await heartbeat.stop()
  assert.deepEqual(warnings, ['the heartbeat of this process could not be recorded'])
})
