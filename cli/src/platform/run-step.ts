import { fork } from 'node:child_process'
import { endProcess, lineSplitter } from '../machine/run.ts'
import { readMessage } from './messages.ts'
import { ProcessFailed } from './supervised-process.ts'

export type StepOptions = {
  file: string
  args?: string[]
  env: NodeJS.ProcessEnv
  cwd: string
  onProgress: (text: string) => void
  signal?: AbortSignal
}

/** Runs a program of the platform that ends by itself, such as a migration. Throws `ProcessFailed` with its reason. */
export async function runStep({ file, args = [], env, cwd, onProgress, signal }: StepOptions): Promise<void> {
  signal?.throwIfAborted()
  const child = fork(file, args, {
    env,
    cwd,
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  })
  const lastLines: string[] = []
  let reason: string | null = null
  for (const stream of [child.stdout, child.stderr]) {
    const lines = lineSplitter((line) => {
      lastLines.push(line)
      if (lastLines.length > 20) lastLines.shift()
    })
    stream?.setEncoding('utf8').on('data', lines.take)
    stream?.on('end', lines.end)
  }
  child.on('message', (received) => {
    const message = readMessage(received)
    if (message?.type === 'progress') onProgress(message.text)
    if (message?.type === 'fatal') reason = message.reason
  })
  child.on('error', (error) => {
    reason = error.message
  })
  const cancel = () => void endProcess(child, 10_000)
  signal?.addEventListener('abort', cancel, { once: true })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  signal?.removeEventListener('abort', cancel)
  signal?.throwIfAborted()
  if (code !== 0) throw new ProcessFailed(reason ?? lastLines.join('\n'), code ?? 1)
}
