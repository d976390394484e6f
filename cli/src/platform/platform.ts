import { join } from 'node:path'
import { freePort } from '../machine/free-port.ts'
import { repository } from '../machine/repository.ts'
import type { Progress } from '../terminal/progress.ts'
import { systemErrorMessage } from '../terminal/system-error.ts'
import { openLogFile } from './log-file.ts'
import type { ReadyMessage } from './messages.ts'
import { processEnvironment } from './process-environment.ts'
import type { StopRequest } from './stop-request.ts'
import { type SupervisedProcess, type SuperviseOptions, superviseProcess } from './supervised-process.ts'

export type PlatformOptions = {
  env: NodeJS.ProcessEnv
  dataDir: string
  /** When set, a scripted model server runs too; returns the variables that redirect the platform to its address. */
  demoEnvironment: ((modelUrl: string) => NodeJS.ProcessEnv) | null
  isVerbose: boolean
  progress: Progress
  stop: StopRequest
  onReady: (ready: ReadyMessage) => Promise<void>
}

const modelProcess = join(import.meta.dirname, 'model-process.ts')
/** Time between SIGTERM and SIGKILL when a process is stopped. */
const graceMs = 15_000

/** Runs the platform's processes until a stop request or until one of them fails for good. Returns the exit code. */
export async function startPlatform(options: PlatformOptions): Promise<number> {
  const { dataDir, progress, stop } = options
  /** In the order in which they are stopped: first the API, which accepts new work, and last the model server. */
  const running: SupervisedProcess[] = []
  stop.onSecond(() => {
    for (const each of running) each.kill()
  })
  const stopRequested = new Promise<'stop'>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve('stop'), { once: true })
    if (stop.signal.aborted) resolve('stop')
  })
  const supervise = (
    name: string,
    file: string,
    env: NodeJS.ProcessEnv,
    overrides: Partial<SpecOverrides> = {},
  ) => {
    const log = openLogFile(join(dataDir, 'logs', `${name}.log`), {
      onTrouble(error) {
        const reason = systemErrorMessage(error) ?? String(error)
        progress.line(`The log of ${name} cannot be written; it continues when it can. ${reason}`)
      },
    })
    const { onProgress = () => {}, ...spec } = overrides
    const superviseOptions: SuperviseOptions = {
      onProgress,
      onTrouble: progress.line,
      onLine: options.isVerbose ? (line) => progress.line(`${name}: ${line}`) : undefined,
    }
    const supervised = superviseProcess(
      { name, file, env, cwd: repository.root, log, ...spec },
      superviseOptions,
    )
    return supervised
  }

  try {
    let env = options.env
    if (options.demoEnvironment) {
      const port = await freePort()
      const model = supervise('model', modelProcess, options.env, {
        args: [repository.modelServer, '--demo', '--port', String(port)],
        readyLine: /listening/,
      })
      running.push(model)
      await model.ready
      env = { ...env, ...options.demoEnvironment(`http://127.0.0.1:${port}`) }
    }
    const ready = await progress.step('Starting Roost', async (onProgress) => {
      const api = supervise('api', repository.api, env, { onProgress })
      running.unshift(api)
      return Promise.race([api.ready, stopRequested])
    })
    if (ready !== 'stop') {
      running.splice(
        1,
        0,
        supervise('mcp', repository.mcp, await processEnvironment('mcp', env)),
        supervise('scheduler', repository.scheduler, await processEnvironment('scheduler', env)),
      )
      if (ready) await options.onReady(ready)
    }
    const outcome = await Promise.race([stopRequested, ...running.map((each) => each.failed)])
    if (outcome !== 'stop') throw outcome
    return 0
  } finally {
    for (const each of running) await progress.step(`Stopping ${each.name}`, () => each.stop(graceMs))
    if (stop.signal.aborted) progress.line('Stopped. Agents keep running; `roost up` finds them again.')
  }
}

type SpecOverrides = { args: string[]; readyLine: RegExp; onProgress: (text: string) => void }
