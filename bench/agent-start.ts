/**
 * `POST start` until the agent responds, compared with the bare engine: start of a container of the same image until
 * the first byte of its program to the platform.
 */
import { execFile } from 'node:child_process'
import { createServer, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startPlatform } from '../checks/acceptance/platform.ts'
import { installsVariable } from '../cli/src/testing/session.ts'
import { keepBenchmark } from './keeper/index.ts'
import { alternate, median, milliseconds, ms, record, report } from './measure.ts'

await keepBenchmark()

const run = promisify(execFile)
await using platform = await startPlatform()
const created = await platform.request('POST', '/api/agents', { name: 'bench-start' })
if (created.status !== 200) throw new Error(created.text)
const inspected = JSON.parse((await run('docker', ['inspect', 'agent-bench-start'])).stdout)[0]
const [network = '', { Gateway: gateway = '' } = {}] =
  Object.entries<{ Gateway?: string }>(inspected.NetworkSettings.Networks)[0] ?? []

/** Listener for the peer's program: it is ready when its first request arrives. */
let arrived: (() => void) | null = null
const readyListener = createServer((_request, response) => response.writeHead(503).end())
readyListener.on('connection', () => arrived?.())
await new Promise<void>((resolve) => readyListener.listen(0, gateway, resolve))
const port = (readyListener.address() as { port: number }).port
// The peer is on the agents' network, from which only the platform answers by default.
await platform.request('PUT', '/api/settings/agent-defaults/network', { opened: [`${gateway}:${port}`] })
const peerName = 'bench-start-peer'
// The keeper removes the container by its label.
const label = ['--label', `roost.install=${process.env[installsVariable]}peer`]
await run('docker', ['volume', 'create', ...label, peerName])
const environment = inspected.Config.Env.filter(
  (entry: string) => !entry.startsWith('ROOST_LINK_URL='),
).flatMap((entry: string) => ['-e', entry])
const capabilities = inspected.HostConfig.CapAdd.flatMap((name: string) => ['--cap-add', name])
await run('docker', [
  'create',
  ...label,
  '--name',
  peerName,
  '--network',
  network,
  '--cap-drop',
  'ALL',
  ...capabilities,
  '--memory',
  '4g',
  '--pids-limit',
  '2048',
  '--tmpfs',
  '/tmp:rw,noexec,nosuid',
  '-v',
  `${peerName}:/home/developer`,
  ...environment,
  '-e',
  `ROOST_LINK_URL=ws://${gateway}:${port}/link`,
  inspected.Config.Image,
])

const ours = async () => {
  await platform.request('POST', '/api/agents/bench-start/stop')
  return milliseconds(async () => {
    await platform.request('POST', '/api/agents/bench-start/start')
    while ((await platform.request('GET', '/api/agents/bench-start/files')).status !== 200) await pause(10)
  })
}
const peer = async () => {
  await run('docker', ['stop', '-t', '10', peerName])
  return milliseconds(async () => {
    const ready = new Promise<void>((resolve) => {
      arrived = resolve
    })
    await engineStart(peerName)
    await ready
  })
}

/** Calls the engine directly, without a client program. */
function engineStart(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = `/containers/${name}/start`
    const sent = request({ socketPath: '/var/run/docker.sock', method: 'POST', path }, (response) => {
      response.resume()
      response.on('end', resolve)
    })
    sent.on('error', reject)
    sent.end()
  })
}

await ours()
await peer()
const series = await alternate(7, ours, peer)
readyListener.close()
const [ownMs, peerMs] = [median(series.ours), median(series.peer)]
record({
  row: 'agent start until it answers',
  ours: ms(ownMs),
  peer: ms(peerMs),
  value: ownMs / peerMs,
  limit: 'at most 1.3 × the peer',
  ok: ownMs / peerMs <= 1.3,
})
await platform[Symbol.asyncDispose]()
report()
