import { join } from 'node:path'
import { freePort } from '../machine/free-port.ts'
import { repository } from '../machine/repository.ts'
import type { Progress } from '../terminal/progress.ts'
import { refusalOfSystem } from '../terminal/system-refusal.ts'
import { type KeepOptions, type KeptProcess, keepProcess } from './kept-process.ts'
import { openLogFile } from './log-file.ts'
import type { ReadyMessage } from './messages.ts'
import type { StopRequest } from './stop-request.ts'

export type PlatformOptions = {
  env: NodeJS.ProcessEnv
  dataDir: string
  /** Set: a scripted model server runs too, and this says how the platform is pointed at its address. */
  demoEnvironment: ((modelUrl: string) => NodeJS.ProcessEnv) | null
  isVerbose: boolean
  progress: Progress
  stop: StopRequest
  onReady: (ready: ReadyMessage) => Promise<void>
}

const modelProcess = join(import.meta.dirname, 'model-process.ts')
/** How long a process may take to stop before it is ended. */
const graceMs = 15_000

/** Runs the platform's processes until a stop is asked for or one of them cannot work. Answers the exit code. */
export async function startPlatform(options: PlatformOptions): Promise<number> {
  const { dataDir, progress, stop } = options
  /** In the order in which they are stopped: the API first, which takes new work, what it stands on last. */
  const running: KeptProcess[] = []
  stop.onSecond(() => {
    for (const each of running) each.kill()
  })
  const stopAsked = new Promise<'stop'>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve('stop'), { once: true })
    if (stop.signal.aborted) resolve('stop')
  })
  const keep = (name: string, file: string, env: NodeJS.ProcessEnv, more: Partial<Starting> = {}) => {
    const log = openLogFile(join(dataDir, 'logs', `${name}.log`), {
      onTrouble(error) {
        const why = refusalOfSystem(error) ?? String(error)
        progress.line(`The log of ${name} cannot be written, and goes on when it can be: ${why}`)
      },
    })
    const { onProgress = () => {}, ...spec } = more
    const keepOptions: KeepOptions = {
      onProgress,
      onTrouble: progress.line,
      onLine: options.isVerbose ? (line) => progress.line(`${name}: ${line}`) : undefined,
    }
    const kept = keepProcess({ name, file, env, cwd: repository.root, log, ...spec }, keepOptions)
    return kept
  }

  try {
    let env = options.env
    if (options.demoEnvironment) {
      const port = await freePort()
      const model = keep('model', modelProcess, options.env, {
        args: [repository.modelServer, '--port', String(port)],
        readyLine: /listening/,
      })
      running.push(model)
      await model.ready
      env = { ...env, ...options.demoEnvironment(`http://127.0.0.1:${port}`) }
    }
    const ready = await progress.step('Starting Roost', async (onProgress) => {
      const api = keep('api', repository.api, env, { onProgress })
      running.unshift(api)
      return Promise.race([api.ready, stopAsked])
    })
    if (ready !== 'stop') {
      running.splice(1, 0, keep('mcp', repository.mcp, env), keep('scheduler', repository.scheduler, env))
      if (ready) await options.onReady(ready)
    }
    const outcome = await Promise.race([stopAsked, ...running.map((each) => each.failed)])
    if (outcome !== 'stop') throw outcome
    return 0
  } finally {
    for (const each of running) await progress.step(`Stopping ${each.name}`, () => each.stop(graceMs))
    if (stop.signal.aborted) progress.line('Stopped. Agents keep running; `roost up` finds them again.')
  }
}

type Starting = { args: string[]; readyLine: RegExp; onProgress: (text: string) => void }
