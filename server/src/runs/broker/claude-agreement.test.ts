/**
 * The installed Claude Code computes the cost of its requests. For models of the price table the broker books
 * the same amount, so a run's `cost` and the `total_cost_usd` of its transcript agree.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { silentLog } from '../../ports/log.ts'
import { createPrices } from '../prices/index.ts'
import { costOf } from './cost.ts'
import { createMeter, type Meter } from './meter.ts'

const command = join(process.env.ROOST_TEST_CLIS ?? '', 'node_modules/.bin/claude')
const skip =
  process.env.ROOST_TEST_CLIS && existsSync(command) ? false : 'ROOST_TEST_CLIS names no folder with claude'

const none = { text: '', updatedAt: null }
const settings = { modelPrices: { stored: () => none, put: async () => {}, remove: async () => {} } }
const prices = createPrices({ settings, log: silentLog }).lookup()

type Usage = Record<string, unknown>
/** The usage that the provider reports from now on. */
let usage: Usage = {}
/** Responses since the last turn, as the broker would meter them. */
let answered: { model: string; meter: Meter }[] = []

/** A provider that reports the usage set by a test. */
const provider = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString()
  if (!request.url?.startsWith('/v1/messages') || request.url.includes('count_tokens')) {
    response.writeHead(200, { 'content-type': 'application/json' })
    return void response.end('{"input_tokens":10}')
  }
  // The client is the CLI, whose requests always name the model.
  const { model } = JSON.parse(text) as { model: string }
  const { output_tokens, ...input } = usage
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null }
  const events = [
    { type: 'message_start', message: { ...message, usage: { ...input, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ok' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { ...input, output_tokens } },
    { type: 'message_stop' },
  ]
  const meter = createMeter('anthropic', { contentType: 'text/event-stream' })
  answered.push({ model, meter })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    const bytes = Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    meter.feed(bytes)
    response.write(bytes)
  }
  response.end()
})

let home = ''
before(async () => {
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  home = await mkdtemp(join(tmpdir(), 'roost-claude-'))
})
after(async () => {
  provider.closeAllConnections()
  provider.close()
  await rm(home, { recursive: true, force: true })
})

/**
 * A live process, started like the agent program does. Each turn resolves with the cost that the CLI reports.
 */
function openClaude(model: string) {
  const { port } = provider.address() as AddressInfo
  const args = ['-p', '--input-format=stream-json', '--output-format=stream-json', '--verbose']
  const child = spawn(command, [...args, '--dangerously-skip-permissions', `--model=${model}`], {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      CLAUDE_CONFIG_DIR: home,
      IS_SANDBOX: '1',
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_AUTH_TOKEN: 'token',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async turn(): Promise<number> {
      const message = { role: 'user', content: 'hello' }
      child.stdin.write(`${JSON.stringify({ type: 'user', message })}\n`)
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error('claude ended without a result.')
        const line = JSON.parse(value)
        if (line.type !== 'result') continue
        assert.equal(line.is_error, false, value)
        const since = line.model_usage_since_last_result as Record<string, { costUSD: number }>
        return Object.values(since).reduce((sum, { costUSD }) => sum + costUSD, 0)
      }
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

/** The cost that the broker books for the responses of one turn, in US dollars. */
function booked(): { usd: number; requests: number; isEstimated: boolean; models: string[] } {
  const costs = answered.map(({ model, meter }) => {
    const metered = meter.metered() ?? assert.fail('nothing was reported')
    return costOf({ prices, provider: 'anthropic', at: new Date() }, meter.model() ?? model, metered)
  })
  const found = {
    usd: costs.reduce((sum, { micros }) => sum + micros, 0) / 1_000_000,
    requests: costs.length,
    isEstimated: costs.some(({ isEstimated }) => isEstimated),
    models: answered.map(({ model }) => model),
  }
  answered = []
  return found
}

const plain = { input_tokens: 1_200, output_tokens: 345 }
const cached = {
  input_tokens: 11,
  cache_read_input_tokens: 22_222,
  cache_creation_input_tokens: 3_333,
  cache_creation: { ephemeral_5m_input_tokens: 1_111, ephemeral_1h_input_tokens: 2_222 },
  output_tokens: 77,
}
const uncached = { cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
const call = { type: 'message', input_tokens: 60_000, output_tokens: 10, ...uncached }
const cases: [what: string, usage: Usage][] = [
  ['plain tokens', plain],
  ['cache reads and writes', cached],
  ['a long prompt', { input_tokens: 150_001, output_tokens: 9 }],
  ['web searches in the US', { ...plain, inference_geo: 'us', server_tool_use: { web_search_requests: 3 } }],
  ['fast mode', { ...plain, speed: 'fast' }],
  [
    'two model calls in one request',
    { ...call, input_tokens: 120_000, output_tokens: 20, iterations: [call, call] },
  ],
]

describe('claude and the broker agree on the cost', { skip, timeout: 600_000 }, () => {
  for (const model of ['default', 'opus', 'haiku', 'fable', 'claude-sonnet-4-5[1m]']) {
    test(`of every turn with ${model}`, async () => {
      answered = []
      await using claude = openClaude(model)
      for (const [what, reported] of cases) {
        usage = { ...reported }
        const usd = await claude.turn()
        const found = booked()
        if (found.isEstimated) {
          // Only a tier that the model does not have, which the provider never reports.
          assert.deepEqual([what, found.usd >= usd], ['fast mode', true])
          continue
        }
        // Each request is booked in whole micro-dollars.
        const isEqual = Math.abs(found.usd - usd) <= found.requests * 0.5e-6 + 1e-9
        assert.ok(isEqual && usd > 0, `${what}: ${found.usd}, claude ${usd}, ${found.models}`)
      }
    })
  }
})
