/**
 * Starts the API, the scheduler and the MCP server in turn while the image is built, and stops each with SIGTERM. A
 * program that does not become ready, or does not end, fails the build.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const limitMs = 120_000
/** Without an engine and with any free ports, since the build shares the host's network. */
const env = {
  ...process.env,
  ROOST_CONTAINERS_URL: 'fake:',
  ROOST_ENGINE_FILTER_SOCKET: '/tmp/data/engine.sock',
}

const [port, internalPort, mcpPort] = await freePorts()
const ports = { ROOST_PORT: port, ROOST_INTERNAL_PORT: internalPort, ROOST_MCP_PORT: mcpPort }
const api = await start('server/src/start/api.ts')
for (const file of [
  'server/src/start/scheduler.ts',
  'mcp/src/start.ts',
  'server/src/start/engine-filter.ts',
]) {
  await stop(await start(file))
}
await stop(api)
await once(fork(join(root, 'cli/src/main.ts'), ['version'], { env, execArgv: [] }), 'exit')

async function start(file: string): Promise<ChildProcess> {
  const child = fork(join(root, file), [], { env: { ...env, ...ports }, execArgv: [], cwd: '/tmp' })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with ${code} before it was ready`)
  })
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`${file} was not ready within ${limitMs / 1000} s`)), limitMs).unref()
  })
  const ready = new Promise<void>((resolve) => {
    child.on('message', (message: { type?: string }) => {
      if (message.type === 'ready') resolve()
    })
  })
  ended.catch(() => {})
  await Promise.race([ready, ended, late])
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const [code] = await ended
  if (code !== 0) throw new Error(`a program ended with ${code} after SIGTERM`)
}

async function freePorts(): Promise<[string, string, string]> {
  const { createServer } = await import('node:net')
  const servers = await Promise.all(
    [1, 2, 3].map(async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  const found = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address ? String(address.port) : ''
  })
  for (const server of servers) server.close()
  return [found[0] ?? '', found[1] ?? '', found[2] ?? '']
}
