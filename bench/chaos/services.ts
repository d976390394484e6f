import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../cli/src/machine/free-port.ts'
import { endProcess, run } from '../../cli/src/machine/run.ts'
import { findPostgres, type RestartableService, startPostgres } from '../../cli/src/testing/services.ts'

/** Starts a private PostgreSQL that keeps committed data when it is killed. */
export async function openPostgres(): Promise<RestartableService> {
  const bin = await findPostgres()
  if (!bin) throw new Error('PostgreSQL is not installed on this machine.')
  return startPostgres(bin, tmpdir(), { keepsCommits: true })
}

export type Redis = {
  url: string
  /** Ends the process, which loses all data. */
  end(): Promise<void>
  begin(): Promise<void>
  freeze(): void
  thaw(): void
  empty(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a private Redis, which keeps its port over restarts. */
export async function openRedis(): Promise<Redis> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-chaos-redis-'))
  const port = await freePort()
  let server: ChildProcess | null = null

  async function begin(): Promise<void> {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    const started = spawn('redis-server', [...args, '--dir', folder], { stdio: ['ignore', 'pipe', 'ignore'] })
    server = started
    await new Promise<void>((resolve, reject) => {
      started.once('error', reject)
      started.once('exit', () => reject(new Error('redis-server does not start.')))
      started.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (/ready to accept connections/i.test(text)) resolve()
      })
    })
  }
  async function end(): Promise<void> {
    const running = server
    server = null
    if (running) await endProcess(running, 0)
  }
  await begin()

  return {
    url: `redis://127.0.0.1:${port}`,
    begin,
    end,
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
    async empty() {
      const { code } = await run('redis-cli', ['-p', String(port), 'flushall'], { timeoutMs: 10_000 })
      if (code !== 0) throw new Error('redis-cli flushall failed.')
    },
    async [Symbol.asyncDispose]() {
      server?.kill('SIGCONT')
      await end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
