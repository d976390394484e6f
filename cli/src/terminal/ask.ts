import { createInterface } from 'node:readline/promises'

/**
 * Asks for a yes. `--yes` and the absence of a terminal count as one: who starts this from a script has no way
 * to answer. Enter alone is a no.
 */
export async function consents(question: string, isYes: boolean): Promise<boolean> {
  if (isYes || !process.stdin.isTTY || !process.stdout.isTTY) return true
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await terminal.question(`${question} [y/N] `)
    return /^\s*y(es)?\s*$/i.test(answer)
  } finally {
    terminal.close()
  }
}
