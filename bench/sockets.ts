/**
 * Events to 1,000 sockets, stored first and filtered per user, compared with a bare `ws` server that sends every event
 * to every client. Both sides deliver the same number of messages; each server is a separate process.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { keepBenchmark } from './keeper/index.ts'
import { median, record, report } from './measure.ts'
import type { Command, Told } from './peers/live-sockets.ts'

await keepBenchmark()

const events = 100
const rounds = 5
/** Fields of a run event. */
const fields = {
  execution_id: 'e2FvVquHSAz9_33VPaeXWg',
  status: 'queued',
  triggered_by: 'chat',
  message_preview: 'x'.repeat(120),
}

type Side = { run(): Promise<{ perSecond: number; cpuMicros: number }>; end(): void }

async function start(program: string, args: string[]): Promise<Side> {
  const server: ChildProcess = fork(new URL(program, import.meta.url), args, { stdio: 'inherit' })
  const [{ urls }] = (await once(server, 'message')) as [{ urls: string[] }]
  let received = 0
  let done = Promise.withResolvers<void>()
  const expected = events * urls.length
  const sockets = urls.map((url) => new WebSocket(url, { perMessageDeflate: false }))
  let ready = 0
  const open = Promise.withResolvers<void>()
  for (const socket of sockets) {
    socket.on('message', (data: Buffer) => {
      // Roost's first message is not an event.
      if (data.includes('"connected"')) return
      received += 1
      if (received === expected) done.resolve()
    })
    socket.on('open', () => {
      ready += 1
      if (ready === sockets.length) open.resolve()
    })
  }
  await open.promise
  return {
    async run() {
      received = 0
      done = Promise.withResolvers()
      const started = performance.now()
      server.send({ events, fields } satisfies Command)
      await done.promise
      const seconds = (performance.now() - started) / 1000
      const reply = once(server, 'message') as Promise<[Told]>
      server.send('usage' satisfies Command)
      const [usage] = await reply
      const cpuMs = 'cpuMs' in usage ? usage.cpuMs : Number.NaN
      return { perSecond: expected / seconds, cpuMicros: (cpuMs * 1000) / expected }
    },
    end() {
      for (const socket of sockets) socket.terminate()
      server.kill()
    },
  }
}

const folder = await mkdtemp(join(tmpdir(), 'roost-bench-'))
const ours = await start('./peers/live-sockets.ts', [folder])
const peer = await start('./peers/bare-ws.ts', [])
const series = {
  ours: [] as number[],
  peer: [] as number[],
  oursCpu: [] as number[],
  peerCpu: [] as number[],
}
await ours.run()
await peer.run()
for (let round = 0; round < rounds; round += 1) {
  const result = await ours.run()
  const theirs = await peer.run()
  series.ours.push(result.perSecond)
  series.oursCpu.push(result.cpuMicros)
  series.peer.push(theirs.perSecond)
  series.peerCpu.push(theirs.cpuMicros)
}
ours.end()
peer.end()
await rm(folder, { recursive: true, force: true })

const [own, peerRate] = [median(series.ours), median(series.peer)]
record({
  row: 'events to 1,000 sockets, filtered for each person',
  ours: `${own.toFixed(0)}/s`,
  peer: `${peerRate.toFixed(0)}/s`,
  value: own / peerRate,
  limit: 'at least 0.5 × the peer',
  ok: own / peerRate >= 0.5,
})
const [mineCpu, theirCpu] = [median(series.oursCpu), median(series.peerCpu)]
record({
  row: 'processor time of the server for a message',
  ours: `${mineCpu.toFixed(1)} µs`,
  peer: `${theirCpu.toFixed(1)} µs`,
  value: mineCpu / theirCpu,
  limit: 'at most 2 × the peer',
  ok: mineCpu / theirCpu <= 2,
})
report()
