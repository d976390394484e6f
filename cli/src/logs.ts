import { getAgentLogs } from '@roost/contracts/agents/registry'
import { type CommandContext, clientCommand } from './client/client-command.ts'
import { plainText } from './client/output.ts'

const pollMs = 1_000
const maxFollowedLines = 1_000

export const logs = clientCommand('logs', {
  parameters: 'AGENT',
  summary: "Print the log of an agent's container.",
  options: { follow: { type: 'boolean', short: 'f' }, tail: { type: 'string', short: 'n' } },
  optionLines: ['-f, --follow     follow until Ctrl-C', '-n, --tail N     last N lines (default 100)'],
  async run(context) {
    const [name = ''] = context.positionals
    const first = await read(context, name, context.integer('tail') ?? 100)
    if (context.isJson && !context.flag('follow')) {
      console.log(JSON.stringify({ agent_name: name, logs: first.join('\n') }))
      return 0
    }
    for (const line of first) printLine(context, line)
    if (context.flag('follow')) await follow(context, name, first)
    return 0
  },
})

async function follow(context: CommandContext, name: string, printed: string[]): Promise<void> {
  let known = printed
  for (;;) {
    await new Promise((done) => setTimeout(done, pollMs))
    const now = await read(context, name, maxFollowedLines)
    for (const line of newLines(known, now)) printLine(context, line)
    known = now
  }
}

/** Returns the lines of `now` that follow those of `before`; all of them when the log was restarted. */
export function newLines(before: readonly string[], now: readonly string[]): readonly string[] {
  if (before.length === 0) return now
  for (let length = Math.min(before.length, now.length); length > 0; length -= 1) {
    const end = before.slice(-length)
    const at = lastIndexOfPart(now, end)
    if (at >= 0) return now.slice(at + length)
  }
  return now
}

function lastIndexOfPart(lines: readonly string[], part: readonly string[]): number {
  for (let at = lines.length - part.length; at >= 0; at -= 1) {
    if (part.every((line, index) => lines[at + index] === line)) return at
  }
  return -1
}

async function read({ api }: CommandContext, name: string, tail: number): Promise<string[]> {
  const { logs: text } = await api.call(getAgentLogs, { params: { name }, query: { tail: String(tail) } })
  return text.split('\n').filter((line, index, all) => line !== '' || index < all.length - 1)
}

function printLine({ isJson }: CommandContext, line: string): void {
  console.log(isJson ? JSON.stringify({ line }) : plainText(line))
}
