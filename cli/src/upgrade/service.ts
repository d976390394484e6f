import { spawn } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type RunningInfo, readRunning } from '../machine/lock.ts'
import { repository } from '../machine/repository.ts'
import { run } from '../machine/run.ts'
import { ProcessFailed } from '../platform/supervised-process.ts'

/** How a running platform is stopped, and started again in the same way. */
export type Service = {
  description: string
  stop(): Promise<void>
  /** Resolves when the platform is ready. Throws `ProcessFailed` when it ends before, or is not ready in time. */
  start(limitSeconds: number): Promise<RunningInfo>
}

const pollMs = 250
const stopMs = 120_000

/** Null when the platform does not run. */
export async function findService(dataDir: string): Promise<Service | null> {
  const running = await readRunning(dataDir)
  if (!running) return null
  const unit = unitOf(await readFile(`/proc/${running.pid}/cgroup`, 'utf8').catch(() => ''))
  return unit ? systemdService(unit, dataDir) : await processService(running.pid, dataDir)
}

/** The systemd service of a process; null for a login session. */
export function unitOf(cgroup: string): string | null {
  const path = cgroup.split('\n').find((line) => line.startsWith('0::') || line.includes('name=systemd'))
  return /\/system\.slice\/(?:[^/\n]+\/)*([^/\n]+\.service)$/.exec(path ?? '')?.[1] ?? null
}

function systemdService(unit: string, dataDir: string): Service {
  const systemctl = async (verb: string) => {
    const { code, lastLines } = await run('systemctl', [verb, '--no-block', unit])
    if (code !== 0) throw new ProcessFailed(`systemctl ${verb} ${unit}: ${lastLines.join('\n')}`, 1)
  }
  const restarts = async () =>
    (await run('systemctl', ['show', '--property=NRestarts', '--value', unit])).stdout.trim()
  return {
    description: `the systemd service ${unit}`,
    async stop() {
      await systemctl('stop')
      await untilStopped(dataDir)
    },
    async start(limitSeconds) {
      const before = await restarts()
      await systemctl('start')
      return untilReady({ dataDir, limitSeconds }, async () => {
        const { stdout } = await run('systemctl', ['is-failed', unit])
        // systemd may start a failing platform again and again.
        const hasFailed = ['failed', 'inactive'].includes(stdout.trim()) || (await restarts()) !== before
        return hasFailed ? `see journalctl -u ${unit}` : null
      })
    },
  }
}

/** Keeps the arguments and environment of the running command. Its output goes to a file from then on. */
async function processService(pid: number, dataDir: string): Promise<Service> {
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').filter(Boolean)
  const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter(Boolean)
  const env = Object.fromEntries(variables.map((each) => each.split(/=(.*)/s).slice(0, 2)))
  const options = args.slice(args.indexOf('up') + 1).filter((each) => each !== '--without-backup')
  const log = join(dataDir, 'logs/up.log')
  return {
    description: `process ${pid}`,
    async stop() {
      const running = await readRunning(dataDir)
      if (running) process.kill(running.pid, 'SIGTERM')
      await untilStopped(dataDir)
    },
    async start(limitSeconds) {
      mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 })
      const output = openSync(log, 'a', 0o600)
      const child = spawn(join(repository.root, 'roost'), ['up', ...options, '--yes'], {
        env,
        cwd: repository.root,
        detached: true,
        stdio: ['ignore', output, output],
      })
      let failure: string | null = null
      child.once('error', (error) => {
        failure = error.message
      })
      child.once('exit', (code) => {
        failure = `it ended with code ${code}, see ${log}`
      })
      const ready = await untilReady({ dataDir, limitSeconds }, async () => failure)
      child.unref()
      return ready
    },
  }
}

async function untilStopped(dataDir: string): Promise<void> {
  for (const giveUpAt = Date.now() + stopMs; await readRunning(dataDir); await pause(pollMs))
    if (Date.now() > giveUpAt) throw new ProcessFailed('The platform does not stop.', 1)
}

/** Throws `ProcessFailed` when `failure` has a reason, or after the limit. */
export async function untilReady(
  { dataDir, limitSeconds }: { dataDir: string; limitSeconds: number },
  failure: () => Promise<string | null>,
): Promise<RunningInfo> {
  for (const giveUpAt = Date.now() + limitSeconds * 1000; ; await pause(pollMs)) {
    const running = await readRunning(dataDir)
    if (running?.url) return running
    const reason = await failure()
    if (reason) throw new ProcessFailed(`The platform did not start: ${reason}`, 1)
    if (Date.now() > giveUpAt)
      throw new ProcessFailed(`The platform was not ready after ${limitSeconds} seconds.`, 1)
  }
}

/** Waits until the platform reports that it can serve requests. Throws `ProcessFailed` after `seconds`. */
export async function checkHealth({ host, port, url }: RunningInfo, seconds: number): Promise<void> {
  // A platform with a certificate serves HTTP on this port to this machine only.
  const health = `http://${host.includes(':') ? `[${host}]` : host}:${port}/health/ready`
  let last = 'no answer'
  for (const giveUpAt = Date.now() + seconds * 1000; ; await pause(pollMs)) {
    try {
      const reply = await fetch(health, { signal: AbortSignal.timeout(5_000) })
      if (reply.status === 200) return
      last = `${reply.status} ${(await reply.text()).slice(0, 200)}`
    } catch (error) {
      last = error instanceof Error ? error.message : String(error)
    }
    if (Date.now() > giveUpAt) throw new ProcessFailed(`${url} is not healthy after ${seconds} s: ${last}`, 1)
  }
}
