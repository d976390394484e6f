/** Compares what a release answered with what today's platform answers about the same rows. */
import type { Answer, Ask } from './answers.ts'

/** Fields that may differ, with the reason. */
const exempt: { field: RegExp; why: string }[] = [
  { field: /^\/api\/agents[^ ]* \S*container_id$/, why: 'the simulated engine starts empty' },
  { field: /isolation\.weaker/, why: 'a text' },
  { field: /settings\/ops\/config \S*description$/, why: 'a text' },
  { field: /heartbeat_state$|heartbeat_age_seconds$/, why: 'of the moment: the agent connects again' },
  { field: /client-portal\/my-agents \S*state$/, why: 'of the moment: the agent connects again' },
  { field: /last_login_at$|last_active_at$|auth\/validate expires_at$/, why: 'the caller signed in again' },
  {
    field: /^\/api\/mcp\/keys\S* \S*(usage_count|last_used_at)$/,
    why: 'the agents connected with their keys',
  },
  {
    field: /\/skills \S*(delivery_status|last_delivery)$/,
    why: 'delivered again, without the git host of the fixture',
  },
  { field: /^\/api\/skills\/\S* \S*(\.ref|last_sync_at)$/, why: 'the bundled skills follow the release' },
]

/** Returns one line for each difference. Fields and entries that are new are not differences. */
export async function differences(answers: readonly Answer[], ask: Ask): Promise<string[]> {
  const found: string[] = []
  const waiting = [...answers]
  const readNext = async (): Promise<void> => {
    for (let old = waiting.shift(); old; old = waiting.shift()) {
      const isAudit = old.path === '/api/audit-log'
      const now = await ask(old.who, isAudit ? `${old.path}?limit=1000` : old.path)
      if (now.status !== old.status) found.push(`${old.who} ${old.path}: ${old.status} is now ${now.status}`)
      else if (isAudit) found.push(...missingEntries(old.body, now.body))
      else compare(old.body, now.body, `${old.path} `, found)
    }
  }
  await Promise.all(Array.from({ length: 8 }, readNext))
  return found
}

function compare(old: unknown, now: unknown, at: string, found: string[]): void {
  if (exempt.some(({ field }) => field.test(at))) return
  const differ = () => found.push(`${at}: ${text(old)} is now ${text(now)}`)
  if (Array.isArray(old)) {
    if (!Array.isArray(now)) return void differ()
    // Settings are listed in the order of their definition, and later versions define more.
    if (at.startsWith('/api/settings') && old.every(hasKey)) {
      for (const item of old)
        compare(
          item,
          now.filter(hasKey).find(({ key }) => key === item.key),
          `${at}[${item.key}]`,
          found,
        )
      return
    }
    if (old.length !== now.length) found.push(`${at}: ${old.length} items are now ${now.length}`)
    for (const [index, item] of old.entries()) compare(item, now[index], `${at}[${index}]`, found)
  } else if (typeof old === 'object' && old !== null) {
    if (typeof now !== 'object' || now === null) return void differ()
    const fields = now as Record<string, unknown>
    for (const [name, value] of Object.entries(old)) {
      // Later versions also hide the conversation of another person's run.
      if (name === 'session_id' && fields.redacted === true) continue
      compare(value, fields[name], at.endsWith(' ') ? at + name : `${at}.${name}`, found)
    }
  } else if (old !== now) differ()
}

function hasKey(item: unknown): item is { key: string } {
  return typeof item === 'object' && item !== null && 'key' in item && typeof item.key === 'string'
}

type Entries = { entries: { event_id: string }[] }

/** The log grows with each request, so its entries are compared by id. */
function missingEntries(old: unknown, now: unknown): string[] {
  const after = new Map((now as Entries).entries.map((entry) => [entry.event_id, entry]))
  const found: string[] = []
  for (const entry of (old as Entries).entries)
    compare(entry, after.get(entry.event_id), `/api/audit-log ${entry.event_id}`, found)
  return found
}

function text(value: unknown): string {
  return (JSON.stringify(value) ?? 'absent').slice(0, 200)
}
