import { getAgentLogs } from '@roost/contracts/agents/registry'
import { type Asked, clientCommand } from './client/client-command.ts'
import { plainText } from './client/output.ts'

const pauseMs = 1_000
const followedLines = 1_000

export const logs = clientCommand('logs', {
  takes: 'AGENT',
  summary: "The log of an agent's container: how its program fares.",
  options: { follow: { type: 'boolean', short: 'f' }, tail: { type: 'string', short: 'n' } },
  optionLines: ['-f, --follow     go on until Ctrl-C', '-n, --tail N     the last N lines (100)'],
  async run(asked) {
    const [name = ''] = asked.positionals
    const first = await read(asked, name, asked.integer('tail') ?? 100)
    if (asked.isJson && !asked.flag('follow')) {
      console.log(JSON.stringify({ agent_name: name, logs: first.join('\n') }))
      return 0
    }
    for (const line of first) write(asked, line)
    if (asked.flag('follow')) await follow(asked, name, first)
    return 0
  },
})

async function follow(asked: Asked, name: string, seen: string[]): Promise<void> {
  let known = seen
  for (;;) {
    await new Promise((done) => setTimeout(done, pauseMs))
    const now = await read(asked, name, followedLines)
    for (const line of newLines(known, now)) write(asked, line)
    known = now
  }
}

/** What stands in `now` behind all that was there `before`; everything when the log began anew. */
export function newLines(before: readonly string[], now: readonly string[]): readonly string[] {
  if (before.length === 0) return now
  for (let length = Math.min(before.length, now.length); length > 0; length -= 1) {
    const end = before.slice(-length)
    const at = lastPlace(now, end)
    if (at >= 0) return now.slice(at + length)
  }
  return now
}

function lastPlace(lines: readonly string[], part: readonly string[]): number {
  for (let at = lines.length - part.length; at >= 0; at -= 1) {
    if (part.every((line, index) => lines[at + index] === line)) return at
  }
  return -1
}

async function read({ api }: Asked, name: string, tail: number): Promise<string[]> {
  const { logs: text } = await api.call(getAgentLogs, { params: { name }, query: { tail: String(tail) } })
  return text.split('\n').filter((line, index, all) => line !== '' || index < all.length - 1)
}

function write({ isJson }: Asked, line: string): void {
  console.log(isJson ? JSON.stringify({ line }) : plainText(line))
}
