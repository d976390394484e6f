/** Parses the payload of a report for each display format; null when it does not match. */

export type ReportTable = { columns: string[]; rows: unknown[][] }
export type Kpi = { label: string; value: string; hint: string | null }
export type TimelineEntry = { at: string | null; title: string; text: string | null }

type Fields = Record<string, unknown>

/** Wider tables are not readable. */
const maxColumns = 40

/** `[{…}, …]`, `[[…header], […], …]`, or `{columns: […], rows: [[…] or {…}, …]}`. */
export function tableOf(payload: unknown): ReportTable | null {
  const { columns, rows } = isFields(payload) ? payload : { columns: undefined, rows: payload }
  if (!Array.isArray(rows)) return null
  const named = Array.isArray(columns) ? columns.map(columnName) : null
  if (rows.every(isFields)) {
    const names = named ?? [...new Set(rows.slice(0, 1000).flatMap((row) => Object.keys(row)))]
    if (names.length === 0 || names.length > maxColumns) return null
    return { columns: names, rows: rows.map((row) => names.map((name) => row[name])) }
  }
  if (!rows.every(Array.isArray)) return null
  const [first = [], ...rest] = rows
  const header = named ?? first.map(textOf)
  if (header.length === 0 || header.length > maxColumns) return null
  return { columns: header, rows: named ? rows : rest }
}

/** `{name: value}`, `{name: {value, unit?, hint?}}`, or `[{label, value, unit?, hint?}, …]`, also under `kpis`. */
export function kpisOf(payload: unknown): Kpi[] | null {
  const inner = isFields(payload) && Array.isArray(payload.kpis) ? payload.kpis : payload
  if (Array.isArray(inner)) {
    const kpis = inner.map((each) => (isFields(each) ? kpiOf(wordOf(each, labels), each) : null))
    return kpis.length > 0 && kpis.every((each) => each !== null) ? kpis : null
  }
  if (!isFields(inner)) return null
  const kpis = Object.entries(inner).map(([name, each]) =>
    isFields(each) ? kpiOf(wordsOfName(name), each) : kpiOf(wordsOfName(name), { value: each }),
  )
  return kpis.length > 0 && kpis.every((each) => each !== null) ? kpis : null
}

/** Text, or an object with its text under `markdown`, `text`, `content` or `body`. */
export function markdownOf(payload: unknown): string | null {
  if (typeof payload === 'string') return payload
  return isFields(payload) ? wordOf(payload, ['markdown', 'text', 'content', 'body']) : null
}

/** `[{at, title, text?}, …]`, also under `events`, `entries` or `items`, in the order given. */
export function timelineOf(payload: unknown): TimelineEntry[] | null {
  const list = isFields(payload) ? (payload.events ?? payload.entries ?? payload.items) : payload
  if (!Array.isArray(list) || list.length === 0) return null
  const entries = list.map((each): TimelineEntry | null => {
    if (!isFields(each)) return null
    const title = wordOf(each, ['title', 'label', 'event', 'name', 'summary'])
    const text = wordOf(each, ['text', 'description', 'message', 'detail'])
    const at = wordOf(each, ['at', 'time', 'timestamp', 'date'])
    if (title === null && text === null) return null
    return { at, title: title ?? text ?? '', text: title === null ? null : text }
  })
  return entries.every((each) => each !== null) ? entries : null
}

/** A cell as text: other values as JSON, null as an empty text. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const labels = ['label', 'title', 'name']

function kpiOf(label: string | null, { value, unit, hint, change }: Fields): Kpi | null {
  if (label === null || value === undefined || (typeof value === 'object' && value !== null)) return null
  const shown =
    typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 4 }) : textOf(value)
  const more = [hint, change].filter((each) => typeof each === 'string' || typeof each === 'number')
  return {
    label,
    value: typeof unit === 'string' && unit !== '' ? `${shown} ${unit}` : shown || '–',
    hint: more.length > 0 ? more.join(' · ') : null,
  }
}

/** `open_tickets` → “Open tickets”. */
function wordsOfName(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function columnName(column: unknown): string {
  return isFields(column) ? (wordOf(column, ['key', ...labels]) ?? '') : textOf(column)
}

function wordOf(fields: Fields, names: readonly string[]): string | null {
  const found = names.map((name) => fields[name]).find((each) => typeof each === 'string')
  return typeof found === 'string' ? found : null
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
