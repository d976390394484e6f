import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { CommandFailed } from './exit.ts'

/** A line that is typed unseen, or the first line of what is piped in. */
export async function askHidden(question: string): Promise<string> {
  if (!process.stdin.isTTY) return firstLine()
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  // The terminal shows nothing from here on: whoever types at once is not seen either.
  process.stderr.write(question)
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}

export async function askLine(question: string): Promise<string> {
  if (!process.stdin.isTTY) throw new CommandFailed(`${question.trim()} cannot be asked without a terminal.`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(question)).trim()
  } finally {
    terminal.close()
  }
}

/** All of what is piped in. */
export async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

async function firstLine(): Promise<string> {
  return (await readInput()).split(/\r?\n/, 1)[0] ?? ''
}
