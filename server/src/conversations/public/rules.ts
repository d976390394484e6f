import { createHash } from 'node:crypto'
import type { AssistantLine, ContentBlock, StoredLine } from '@roost/contracts/link/transcript'
import type { LinkRow } from './store.ts'

const secretPattern = /^[A-Za-z0-9_-]{43}$/

/**
 * Hash by which a token or `session_id` is found; null for text in another format. Secrets are 256 random bits, so a
 * plain digest is safe, and a lookup by hash reveals nothing through its timing.
 */
export function secretHash(text: string | null | undefined): string | null {
  if (!text || !secretPattern.test(text)) return null
  return createHash('sha256').update(text).digest('hex')
}

/** The hash of a secret that the platform has created. */
export function hashOf(secret: string): string {
  const hash = secretHash(secret)
  if (hash === null) throw new Error('A secret of the platform has another form than it makes.')
  return hash
}

/** Whether the link is open to visitors. */
export function isOpen(link: Pick<LinkRow, 'enabled' | 'expires_at'>, now: string): boolean {
  return link.enabled === 1 && (link.expires_at === null || link.expires_at > now)
}

/** The questions that a visitor of the link can send with a click. */
export function starterQuestionsOf({ starter_questions }: Pick<LinkRow, 'starter_questions'>): string[] {
  // Written by this feature as an array of texts.
  return starter_questions === null ? [] : (JSON.parse(starter_questions) as string[])
}

/** The UTC day by which messages are counted. */
export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10)
}

/** Seconds until the daily count resets. */
export function secondsLeftOfDay(now: Date): number {
  const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  return Math.ceil((midnight - now.getTime()) / 1000)
}

/**
 * Converts a transcript line for visitors: the agent's text and the names of its tools. Hides tool input and output,
 * runtime messages, costs, prompts and thoughts. Null when nothing is left.
 */
export function visitorLine(text: string): string | null {
  // Stored lines are JSON written by the transcript feature.
  const line = JSON.parse(text) as StoredLine
  const position = { _n: line._n, _ts: line._ts }
  if (line.type === 'error') {
    const message = 'Something went wrong at the agent.'
    return JSON.stringify({
      type: 'error',
      error: 'run_failed',
      message,
      retryable: line.retryable,
      ...position,
    })
  }
  if (line.type !== 'assistant') return null
  // A subagent's text is not addressed to the visitor.
  const isOwn = line.parent_tool_use_id === undefined
  const content = blocksOf(line).flatMap((block) => visibleBlocks(block, isOwn))
  if (content.length === 0) return null
  return JSON.stringify({ type: 'assistant', message: { role: 'assistant', content }, ...position })
}

const maxToolName = 200

function visibleBlocks(block: ContentBlock, isOwn: boolean): object[] {
  if (block.type === 'tool_use') return [{ type: 'tool_use', name: String(block.name).slice(0, maxToolName) }]
  if (block.type === 'text' && isOwn && block.text !== '') return [{ type: 'text', text: block.text }]
  return []
}

/** A truncated line may have lost its message. */
function blocksOf({ message }: Partial<AssistantLine>): ContentBlock[] {
  return message?.content ?? []
}
