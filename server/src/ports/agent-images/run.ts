import { spawn } from 'node:child_process'

export type RunOptions = {
  /** Hears every line of both streams. */
  onLine?: (line: string) => void
  signal?: AbortSignal
  cwd?: string
  env: Record<string, string | undefined>
}

/** Runs a command to its end and answers its standard output. Fails with the last lines it printed. */
export function run(command: readonly [string, ...string[]], options: RunOptions): Promise<string> {
  const [file, ...args] = command
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: options.signal,
    })
    const last: string[] = []
    let output = ''
    let rest = ''
    const take = (text: string) => {
      const lines = (rest + text).split(/[\r\n]+/)
      rest = lines.pop() ?? ''
      for (const line of lines.filter((each) => each.trim() !== '')) {
        last.push(line)
        if (last.length > 12) last.shift()
        options.onLine?.(line)
      }
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      take(text)
    })
    child.stderr.setEncoding('utf8').on('data', take)
    child.on('error', reject)
    child.on('close', (code, killedBy) => {
      if (code === 0) return resolve(output)
      if (rest.trim() !== '') last.push(rest)
      reject(new Error(`${file} ended with ${killedBy ?? `code ${code}`}:\n${last.join('\n')}`))
    })
  })
}
