import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { CommandFailed } from './exit.ts'

/** Reads a line without echo, or the first line of piped input. */
export async function askHidden(question: string): Promise<string> {
  if (!process.stdin.isTTY) return firstLine()
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  // Echo is already off here, so input typed before the prompt stays hidden too.
  process.stderr.write(question)
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}

export async function askLine(question: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new CommandFailed(`A terminal is required for this input: ${question.trim()}`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(question)).trim()
  } finally {
    terminal.close()
  }
}

/** Reads all piped input. */
export async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

async function firstLine(): Promise<string> {
  return (await readInput()).split(/\r?\n/, 1)[0] ?? ''
}
