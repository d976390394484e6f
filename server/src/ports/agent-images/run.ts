import { spawn } from 'node:child_process'

export type RunOptions = {
  /** Called with every line of both streams. */
  onLine?: (line: string) => void
  signal?: AbortSignal
  cwd?: string
  env: Record<string, string | undefined>
}

/** Runs a command to its end and returns its standard output. An error contains the last lines printed. */
export function run(command: readonly [string, ...string[]], options: RunOptions): Promise<string> {
  const [file, ...args] = command
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: options.signal,
    })
    const lastLines: string[] = []
    let output = ''
    let rest = ''
    const receive = (text: string) => {
      const lines = (rest + text).split(/[\r\n]+/)
      rest = lines.pop() ?? ''
      for (const line of lines.filter((each) => each.trim() !== '')) {
        lastLines.push(line)
        if (lastLines.length > 12) lastLines.shift()
        options.onLine?.(line)
      }
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      receive(text)
    })
    child.stderr.setEncoding('utf8').on('data', receive)
    child.on('error', reject)
    child.on('close', (code, killedBy) => {
      if (code === 0) return resolve(output)
      if (rest.trim() !== '') lastLines.push(rest)
      reject(new Error(`${file} ended with ${killedBy ?? `code ${code}`}:\n${lastLines.join('\n')}`))
    })
  })
}
