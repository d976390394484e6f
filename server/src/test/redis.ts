import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import { redisEphemeral } from '../ports/ephemeral/redis.ts'
import { silentLog } from '../ports/log.ts'

/** A temporary Redis that can be killed and restarted at the same address. */
export type RedisServer = AsyncDisposable & {
  url: string
  /** A connected store; closed with the server. */
  open(): Promise<Ephemeral>
  closeWith(store: Ephemeral): void
  kill(): Promise<void>
  /** Keeps its connections but does not respond, like a machine that hangs. */
  freeze(): void
  thaw(): void
  restart(): Promise<void>
  /** Resolves when `store` has reconnected. */
  backFor(store: Ephemeral): Promise<void>
  /** Simulates passing time: shortens the lifetime of every key. */
  pass(seconds: number): Promise<void>
}

/** Returns the path of `redis-server`, or null if it is not installed. */
export function redisServerPath(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      accessSync(join(folder, 'redis-server'), constants.X_OK)
      return join(folder, 'redis-server')
    } catch {}
  }
  return null
}

const passScript = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key) - tonumber(ARGV[1])
  if left > 0 then redis.call('PEXPIRE', key, left) else redis.call('DEL', key) end
end`

/** Starts a server that stops after the surrounding `describe`, or with `await using`. */
export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'roost-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const stores: Ephemeral[] = []
  let server = await launch(port, folder)

  const backFor = async (store: Ephemeral) => {
    const giveUpAt = Date.now() + 60_000
    for (;;) {
      try {
        return await store.ping()
      } catch (error) {
        if (Date.now() > giveUpAt) throw error
      }
      await sleep(5)
    }
  }
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  const stop = async () => {
    await Promise.all(stores.map((store) => store.close()))
    await kill()
    rmSync(folder, { recursive: true, force: true })
  }
  after(stop)

  return {
    url,
    async open() {
      const store = redisEphemeral(url, { log: silentLog })
      stores.push(store)
      await backFor(store)
      await untilTopics(store)
      return store
    },
    closeWith: (store) => void stores.push(store),
    kill,
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async restart() {
      server = await launch(port, folder)
    },
    backFor,
    async pass(seconds) {
      const admin = new Redis(url)
      try {
        await admin.eval(passScript, 0, Math.round(seconds * 1000))
      } finally {
        admin.disconnect()
      }
    },
    [Symbol.asyncDispose]: stop,
  }
}

/** Topics have a connection of their own. Before it is ready, a subscription misses messages. */
async function untilTopics(store: Ephemeral): Promise<void> {
  const ready = Promise.withResolvers<void>()
  const subscription = await store.subscribe('ready', () => ready.resolve(), ready.resolve)
  await store.publish('ready', '')
  await ready.promise
  await subscription.close()
}

async function launch(port: number, folder: string): Promise<ChildProcess> {
  const options = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ]
  const server = spawn(redisServerPath() ?? 'redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  for await (const chunk of server.stdout) {
    output += chunk
    if (output.includes('Ready to accept connections')) break
  }
  server.stdout.resume()
  if (!output.includes('Ready to accept')) throw new Error(`redis-server did not start: ${output}`)
  return server
}

/**
 * Returns a free port outside of the ephemeral range. Otherwise a reconnecting client could get the port of the
 * stopped Redis and connect to itself.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 22_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
