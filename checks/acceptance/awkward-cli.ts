/**
 * Replaces the real CLI in a container. Speaks enough of its line protocol for a turn, and misbehaves as the message
 * says. A real CLI does this once in a thousand turns.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const session = '5f0c2b1e-8d1c-4c7e-9a55-0d1c2b3a4f5e'
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const text = (words: string) =>
  say({
    type: 'assistant',
    message: { role: 'assistant', model: 'awkward', content: [{ type: 'text', text: words }] },
  })
const result = (words: string) =>
  say({
    ...{ type: 'result', subtype: 'success', is_error: false, result: words, session_id: session },
    ...{ num_turns: 1, duration_ms: 1, total_cost_usd: 0, usage: {} },
  })

/** A process in its own session and group, like a tool's server. */
function daemon(): void {
  spawn('/bin/sleep', ['86400'], { detached: true, stdio: 'ignore' }).unref()
}

function neverEnd(): void {
  setInterval(() => {}, 1000)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
}

const behaviours: Record<string, () => void> = {
  plain() {
    text('plain')
    result('plain')
    process.exit(0)
  },
  'result-then-hangs'() {
    result('said')
    neverEnd()
  },
  'half-a-line'() {
    text('first')
    process.stdout.write('{"type":"assistant","message":{"role":"assis')
    neverEnd()
  },
  'fifty-megabytes'() {
    text('x'.repeat(50 * 1024 * 1024))
    result('long')
  },
  'fifty-megabytes-without-json'() {
    process.stdout.write(`${'x'.repeat(50 * 1024 * 1024)}\n`)
    result('noise')
  },
  'invalid-utf8'() {
    const [before, after] = JSON.stringify({
      type: 'assistant',
      message: { role: 'assistant', model: 'awkward', content: [{ type: 'text', text: 'caf|!' }] },
    }).split('|')
    process.stdout.write(Buffer.concat([Buffer.from(before ?? ''), Buffer.from([0xe9, 0xff, 0xc3])]))
    process.stdout.write(`${after}\n`)
    result('readable')
  },
  'leaves-a-daemon'() {
    daemon()
    result('left one behind')
  },
  'daemon-then-dies'() {
    daemon()
    process.kill(process.pid, 'SIGKILL')
  },
  'eats-memory'() {
    const eaten: Buffer[] = []
    setInterval(() => {
      eaten.push(Buffer.alloc(64 * 1024 * 1024, 1))
      // On a busy machine this takes longer than the allowed silence of a runtime.
      text(`${eaten.length}`)
    }, 5)
  },
  'tool-eats-memory'() {
    const script = 'const a = []; setInterval(() => a.push(Buffer.alloc(64 * 1024 * 1024, 1)), 5)'
    const tool = spawn(process.execPath, ['-e', script], { detached: true, stdio: 'ignore' })
    setInterval(() => text('waiting'), 500)
    tool.on('exit', (_code, signal) => {
      result(`tool ended by ${signal}`)
      process.exit(0)
    })
  },
  silent() {
    process.exit(0)
  },
  'cries-and-dies'() {
    process.stderr.write('everything is on fire\n')
    process.exit(3)
  },
}

say({ type: 'system', subtype: 'init', session_id: session, model: 'awkward', tools: [] })
for await (const line of createInterface({ input: process.stdin })) {
  const { type, message } = JSON.parse(line)
  if (type !== 'user') continue
  const named = /\[\[awkward:([a-z0-9-]+)\]\]/.exec(JSON.stringify(message.content))?.[1] ?? 'plain'
  behaviours[named]?.()
}
