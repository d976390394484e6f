import { createHash } from 'node:crypto'
import type { AssistantLine, ContentBlock, StoredLine } from '@roost/contracts/link/transcript'
import type { LinkRow } from './store.ts'

const secretPattern = /^[A-Za-z0-9_-]{43}$/

/**
 * By which a token or a `session_id` is found; null for text that is none. They have 256 bits of chance: a plain
 * digest gives nothing away, and a look-up by it tells no one how near a guess was.
 */
export function secretHash(text: string | null | undefined): string | null {
  if (!text || !secretPattern.test(text)) return null
  return createHash('sha256').update(text).digest('hex')
}

/** The same of a secret that the platform has made itself. */
export function hashOf(secret: string): string {
  const hash = secretHash(secret)
  if (hash === null) throw new Error('A secret of the platform has another form than it makes.')
  return hash
}

/** Whether visitors are let in. */
export function isLive(link: Pick<LinkRow, 'enabled' | 'expires_at'>, now: string): boolean {
  return link.enabled === 1 && (link.expires_at === null || link.expires_at > now)
}

/** The day of a time, as messages are counted. */
export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10)
}

/** Until messages are counted anew. */
export function secondsLeftOfDay(now: Date): number {
  const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  return Math.ceil((midnight - now.getTime()) / 1000)
}

/**
 * A line of the transcript as a visitor is told it: what the agent says, and the names of its tools. Never their
 * input or output, what the runtime says of itself, costs, prompts or thoughts. Null: nothing of it.
 */
export function shownLine(text: string): string | null {
  // Stored lines are JSON that the transcript's own feature has written.
  const line = JSON.parse(text) as StoredLine
  const place = { _n: line._n, _ts: line._ts }
  if (line.type === 'error') {
    const message = 'Something went wrong at the agent.'
    return JSON.stringify({
      type: 'error',
      error: 'run_failed',
      message,
      retryable: line.retryable,
      ...place,
    })
  }
  if (line.type !== 'assistant') return null
  // What a subagent says is not said to the visitor.
  const isOwn = line.parent_tool_use_id === undefined
  const content = blocksOf(line).flatMap((block) => shownBlock(block, isOwn))
  if (content.length === 0) return null
  return JSON.stringify({ type: 'assistant', message: { role: 'assistant', content }, ...place })
}

const maxToolName = 200

function shownBlock(block: ContentBlock, isOwn: boolean): object[] {
  if (block.type === 'tool_use') return [{ type: 'tool_use', name: String(block.name).slice(0, maxToolName) }]
  if (block.type === 'text' && isOwn && block.text !== '') return [{ type: 'text', text: block.text }]
  return []
}

/** A line that was cut short may have lost its message. */
function blocksOf({ message }: Partial<AssistantLine>): ContentBlock[] {
  return message?.content ?? []
}
