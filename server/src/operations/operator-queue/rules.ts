import { roles } from '@roost/contracts/kit/access'
import { type AskBody, agingHours, type QueueItem } from '@roost/contracts/operations/operator-queue'
import { isCallOnly, type Relation, type SignedIn } from '../../identity/access/caller.ts'
import type { OperatorItemsTable } from './tables.ts'

/** Content of an entry or an ask. */
export type AskText = Pick<AskBody, 'title' | 'question' | 'type' | 'priority' | 'options' | 'context'>

/** The stored id of an ask. Request ids have no spaces, so nobody can name the ask of another principal. */
export function askKey(asker: string | null, requestId: string): string {
  return asker === null ? requestId : `${asker} ${requestId}`
}

export function readAskKey(key: string): { asker: string | null; requestId: string } {
  const space = key.lastIndexOf(' ')
  return { asker: space < 0 ? null : key.slice(0, space), requestId: key.slice(space + 1) }
}

/** The item of the API. `agentName` is null for alerts about no single agent. */
export function viewItem(row: OperatorItemsTable, agentName: string | null, now: Date): QueueItem {
  return {
    id: row.id,
    agent_name: agentName,
    request_id: row.request_id && readAskKey(row.request_id).requestId,
    type: row.type,
    kind: row.kind,
    status: row.status,
    priority: row.priority,
    title: row.title,
    question: row.question,
    options: parsed(row.options),
    context: parsed(row.context),
    proposal: row.proposal === null ? null : parsed(row.proposal),
    execution_id: row.execution_id,
    addressed_to_email: row.addressed_to_email,
    created_at: row.created_at,
    expires_at: row.expires_at,
    response: row.response,
    response_text: row.response_text,
    responded_by_id: row.responded_by_id,
    responded_by_email: row.responded_by_email,
    responded_at: row.responded_at,
    acknowledged_at: row.acknowledged_at,
    disposition: row.disposition,
    disposition_reason: row.disposition_reason,
    batch_id: row.batch_id,
    aging: isAging(row, now),
    source: row.source,
    diverged: row.entry_now !== null,
    entry_now: row.entry_now === null ? null : parsed(row.entry_now),
  }
}

function isAging({ status, created_at }: OperatorItemsTable, now: Date): boolean {
  return status === 'pending' && now.getTime() - new Date(created_at).getTime() > agingHours * 3_600_000
}

/** Parses a JSON column, which this feature wrote. */
function parsed<T>(text: string): T {
  return JSON.parse(text) as T
}

export function textOf(row: OperatorItemsTable): AskText {
  const { title, question, type, priority } = row
  return { title, question, type, priority, options: parsed(row.options), context: parsed(row.context) }
}

/** Compares content, so that a merely reformatted file counts as unchanged. */
export function haveSameContent(a: AskText, b: AskText): boolean {
  return canonical(contentOf(a)) === canonical(contentOf(b))
}

/** Picks the fields of an ask. */
export function contentOf({ title, question, type, priority, options, context }: AskText) {
  return { title, question: question ?? null, type, priority, options, context }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

/** Options for an answer. An empty list allows any text. */
export function optionsOf(row: OperatorItemsTable): string[] {
  return row.entry_now === null ? parsed(row.options) : parsed<AskText>(row.entry_now).options
}

/**
 * True for callers who see all items of an accessible agent: its owner, an operator, an admin and the agent itself.
 * Others see items addressed to them.
 */
export function seesItemsOf(caller: SignedIn, relation: Relation): boolean {
  if (relation === 'self') return true
  if (isCallOnly(relation) || !actsForPerson(caller)) return false
  return relation === 'owner' || relation === 'admin' || isOperator(caller)
}

/** Of role operator or above. */
function isOperator({ user }: SignedIn): boolean {
  return roles.indexOf(user.role) >= roles.indexOf('operator')
}

/** Admins also see items about no single agent. */
export function seesEverything(caller: SignedIn): boolean {
  return actsForPerson(caller) && (isSystem(caller) || caller.user.role === 'admin')
}

export function actsForPerson(caller: SignedIn): boolean {
  return caller.kind === 'session' || caller.key.scope === 'user' || isSystem(caller)
}

function isSystem(caller: SignedIn): boolean {
  return caller.kind === 'key' && caller.key.scope === 'system'
}

/** Removes duplicates and sorts, so that concurrent writers of the same items cannot deadlock. */
export function inLockOrder(ids: readonly string[]): string[] {
  return [...new Set(ids)].toSorted()
}

/** The message of the run that an answer starts. */
export function resumeMessage(row: OperatorItemsTable): string {
  const marked = (name: string, text: string | null) => (text ? [`<${name}>\n${text}\n</${name}>`] : [])
  return [
    `Your operator answered the request "${row.request_id ? readAskKey(row.request_id).requestId : row.id}".`,
    ...marked('question', [row.title, row.question].filter(Boolean).join('\n\n')),
    ...marked('answer', row.response),
    ...marked('answer_text', row.response_text),
    'Go on with the work that waited for it.',
  ].join('\n\n')
}

/** Column values of a new item that its kind leaves empty. */
export const blankItem = {
  request_id: null,
  kind: null,
  pending_key: null,
  status: 'pending',
  question: null,
  options: '[]',
  proposal: null,
  execution_id: null,
  addressed_to_email: null,
  expires_at: null,
  response: null,
  response_text: null,
  responded_by_id: null,
  responded_by_email: null,
  responded_at: null,
  acknowledged_at: null,
  disposition: null,
  disposition_reason: null,
  batch_id: null,
  entry_now: null,
  resume: 'none',
  cleared_at: null,
} as const satisfies Partial<OperatorItemsTable>
