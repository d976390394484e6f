import { statSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { UsageError } from '../command.ts'

/**
 * Requires `--yes` for an irreversible action when there is no terminal to confirm it. Throws `UsageError`.
 */
export function needsYes(isYes: boolean): void {
  if (isYes || hasTerminal()) return
  throw new UsageError('There is no terminal to confirm this. Add --yes to proceed.')
}

/**
 * Asks for confirmation; Enter alone means no. `--yes` and a missing terminal count as yes, because a script
 * cannot answer.
 */
export async function consents(question: string, isYes: boolean): Promise<boolean> {
  if (isYes || !hasTerminal()) return true
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await terminal.question(`${question} [y/N] `)
    return /^\s*y(es)?\s*$/i.test(answer)
  } finally {
    terminal.close()
  }
}

/**
 * Decides whether a command may write to a path of the user: `new` when the path is free, `replace` when the user
 * agrees, `refused` when the user declines. Throws `UsageError` for a folder, or when there is no terminal to ask.
 */
export async function writeTarget(path: string, isForced: boolean): Promise<'new' | 'replace' | 'refused'> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return 'new'
  if (found.isDirectory()) throw new UsageError(`${path} is a folder. Give the name of a file.`)
  if (isForced) return 'replace'
  if (!hasTerminal())
    throw new UsageError(`${path} exists already. Give another name, or replace it with --force.`)
  return (await consents(`${path} exists already. Replace it?`, false)) ? 'replace' : 'refused'
}

function hasTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY
}
