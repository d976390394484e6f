import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { shorten } from '../kit/text.ts'

/** The current activity of a run, for heartbeats: the running tool and its start time. */
export type Activity = { tool?: string; summary?: string; since?: string }

const maxToolLength = 100
const maxSummaryLength = 200
/** Input fields that summarize a tool call, in order of preference. */
const summaryFields = [
  'command',
  'file_path',
  'path',
  'url',
  'query',
  'pattern',
  'title',
  'description',
  'prompt',
]

/** Returns the activity after `line`, given the previous one. */
export function nextActivity(before: Activity, line: TranscriptLine, at: string): Activity {
  if (line.type === 'user') return {}
  if (line.type !== 'assistant') return before
  const call = line.message.content.findLast((block) => block.type === 'tool_use')
  if (call?.type !== 'tool_use') return {}
  return { tool: shorten(call.name, maxToolLength), summary: summaryOf(call.input), since: at }
}

function summaryOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  const fields = new Map(Object.entries(input))
  const found = summaryFields.map((name) => fields.get(name)).find((value) => typeof value === 'string')
  const text = typeof found === 'string' ? found : JSON.stringify(input)
  return shorten(text.replace(/\s+/g, ' ').trim(), maxSummaryLength)
}
