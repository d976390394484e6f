import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { shorten } from '../kit/text.ts'

/** What a run is doing, for beats: the tool that is running, and since when. */
export type Activity = { tool?: string; summary?: string; since?: string }

const longestTool = 100
const longestSummary = 200
/** Fields that say in one glance what a call is about. */
const telling = ['command', 'file_path', 'path', 'url', 'query', 'pattern', 'title', 'description', 'prompt']

/** The activity after `line`, given the one before it. */
export function nextActivity(before: Activity, line: TranscriptLine, at: string): Activity {
  if (line.type === 'user') return {}
  if (line.type !== 'assistant') return before
  const call = line.message.content.findLast((block) => block.type === 'tool_use')
  if (call?.type !== 'tool_use') return {}
  return { tool: shorten(call.name, longestTool), summary: summaryOf(call.input), since: at }
}

function summaryOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  const fields = new Map(Object.entries(input))
  const found = telling.map((name) => fields.get(name)).find((value) => typeof value === 'string')
  const text = typeof found === 'string' ? found : JSON.stringify(input)
  return shorten(text.replace(/\s+/g, ' ').trim(), longestSummary)
}
