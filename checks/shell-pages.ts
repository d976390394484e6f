/** Runs the shell examples of a page in order, in one shell, and compares what the page shows. */
import { spawn } from 'node:child_process'
import { blocksOf } from './agent-pages.ts'

/** A shell block of a page, and the output that the block after it shows. */
export type Example = { line: number; commands: { line: number; text: string }[]; shown: string | null }

export function shellExamples(markdown: string): Example[] {
  const blocks = blocksOf('', markdown)
  return blocks.flatMap(({ language, line, text }, index) => {
    if (language !== 'sh') return []
    const next = blocks[index + 1]
    const isOutput = next !== undefined && ['', 'json', 'text'].includes(next.language)
    return [{ line, commands: commandsOf(text, line), shown: isOutput ? next.text.trimEnd() : null }]
  })
}

/** One command for each line; a line that ends with a backslash goes on. */
function commandsOf(text: string, blockLine: number): Example['commands'] {
  const commands: Example['commands'] = []
  let isOpen = false
  for (const [index, each] of text.split('\n').entries()) {
    const last = commands.at(-1)
    if (isOpen && last) last.text += `\n${each}`
    else if (each.trim() !== '' && !each.startsWith('#'))
      commands.push({ line: blockLine + 1 + index, text: each })
    isOpen = each.endsWith('\\')
  }
  return commands
}

/** The parts of an output that differ from run to run. The first pattern that matches applies. */
const variable: [pattern: RegExp, instead: string][] = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+Z)?)?/, '\\d{4}-\\d\\d-\\d\\d[T ][\\d:.Z]+'],
  [/\$\d+\.\d+/, '\\$\\d+\\.\\d+'],
  [/\b\d+(?:\.\d+)? (?:ms|s|KiB|MiB)(?!\w)/, '\\d+(?:\\.\\d+)? \\w+'],
  [/[\w-]{22,}/, '[\\w-]+'],
  [/…/, '.*'],
  [/ +/, ' +'],
]
const anyVariable = new RegExp(variable.map(([pattern]) => `(${pattern.source})`).join('|'), 'g')

/** Why an output is not the one that the page shows; null if it is. Spaces of tables may differ. */
export function outputProblem(shown: string, output: string): string | null {
  const expected = shown.split('\n').filter((line) => line.trim() !== '')
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  let from = 0
  for (const line of expected) {
    const pattern = patternOf(line)
    const at = lines.findIndex((each, index) => index >= from && pattern.test(each.trim()))
    if (at === -1) return `the page shows "${line}", the output is:\n${output}`
    from = at + 1
  }
  return lines.length === expected.length ? null : `the page does not show all of the output:\n${output}`
}

function patternOf(line: string): RegExp {
  const text = line.trim()
  let source = ''
  let from = 0
  for (const match of text.matchAll(anyVariable)) {
    const which = match.slice(1).findIndex((part) => part !== undefined)
    source += escaped(text.slice(from, match.index)) + (variable[which]?.[1] ?? '')
    from = match.index + match[0].length
  }
  return new RegExp(`^${source}${escaped(text.slice(from))}$`)
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

export type Shell = {
  /** Runs one command and returns its output. Throws for an exit code other than 0. */
  run(command: string): Promise<string>
  [Symbol.asyncDispose](): Promise<void>
}

/** A shell that keeps its variables from one command to the next, as the reader's terminal does. */
export function openShell(options: { cwd: string; env: NodeJS.ProcessEnv }): Shell {
  const shell = spawn('bash', [], { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  let onData = () => {}
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part
      onData()
    })
  const ended = new Promise<void>((resolve) => shell.once('close', () => resolve()))
  const end = /\n?--- end (\d+) ---\n/
  return {
    async run(command) {
      output = ''
      const finished = new Promise<RegExpExecArray>((resolve, reject) => {
        onData = () => {
          const match = end.exec(output)
          if (match) resolve(match)
        }
        void ended.then(() => reject(new Error(`the shell ended:\n${output}`)))
      })
      // A pipe fails with any of its commands. Standard input of the command is not that of the shell.
      shell.stdin.write(
        `set -o pipefail; { ${command}\n} 2>&1 </dev/null; code=$?; printf '\\n--- end %s ---\\n' "$code"\n`,
      )
      const match = await finished
      const text = output.slice(0, match.index)
      if (match[1] !== '0') throw new Error(`exit code ${match[1]} of: ${command}\n${text}`)
      return text
    },
    async [Symbol.asyncDispose]() {
      shell.stdin.end()
      await ended
    },
  }
}
