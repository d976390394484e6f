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

/** A throwaway Redis that can be killed and started again at the same address. */
export type RedisServer = AsyncDisposable & {
  url: string
  /** A connected store; closed with the server. */
  open(): Promise<Ephemeral>
  closeWith(store: Ephemeral): void
  kill(): Promise<void>
  /** Keeps its connections and answers nothing, as a machine does that hangs. */
  freeze(): void
  thaw(): void
  restart(): Promise<void>
  /** Resolves when `store` has found the server again. */
  backFor(store: Ephemeral): Promise<void>
  /** Lets that much time go by: every key comes so much nearer to its end. */
  pass(seconds: number): Promise<void>
}

/** Where `redis-server` is; null when this machine has none. */
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

/** Stopped after the tests of the surrounding `describe`, or by `await using`. */
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
  let said = ''
  for await (const chunk of server.stdout) {
    said += chunk
    if (said.includes('Ready to accept connections')) break
  }
  server.stdout.resume()
  if (!said.includes('Ready to accept')) throw new Error(`redis-server did not start: ${said}`)
  return server
}

/**
 * Outside of the range from which the system gives connections theirs: while Redis is away, a client that tries
 * to come back could be given its port, and even reach itself there.
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
