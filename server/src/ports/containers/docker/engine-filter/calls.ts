/**
 * The calls of the Engine API that the Docker adapter makes, and their parameters. Everything else is refused. The
 * caller's text is never forwarded: a request to the engine is built from the parts that matched.
 */

/** What the path names; checked to belong to this installation. */
export type Target = { kind: 'container' | 'network' | 'volume' | 'image'; name: string }

export type AllowedCall = {
  method: string
  /** Path with `{}` in place of the name. */
  path: string
  target: Target | null
  query: URLSearchParams
  body: 'none' | 'container' | 'volume' | 'network' | 'archive'
  reply: 'as-is' | 'info' | 'disk' | 'networks' | 'volume'
}

/** `rule` is a sentence that the caller and the log get. */
export class RefusedCall extends Error {
  constructor(rule: string) {
    super(rule)
    this.name = 'RefusedCall'
  }
}

/** Allowed parameters of a call, each with the form of its value. */
type Parameters = Record<string, RegExp | 'filters'>
type Row = Partial<Pick<AllowedCall, 'body' | 'reply'>> & {
  parameters?: Parameters
  /** Keys of `filters`; the only label is that of this installation. */
  filters?: readonly string[]
}

const flag = /^(true|false|0|1)$/
const seconds = /^\d{1,6}$/
const name = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/

const table: Record<string, Row> = {
  'GET /_ping': {},
  'GET /version': {},
  'GET /info': { reply: 'info' },
  'GET /events': {
    parameters: { since: /^\d{1,12}(\.\d{1,9})?$/, filters: 'filters' },
    filters: ['type', 'event', 'label'],
  },
  'GET /system/df': { parameters: { type: /^(container|volume)$/, verbose: flag }, reply: 'disk' },
  'GET /images/{image}/json': {},
  'GET /networks': { parameters: { filters: 'filters' }, filters: ['name', 'label'], reply: 'networks' },
  'POST /networks/create': { body: 'network' },
  'DELETE /networks/{network}': {},
  'GET /volumes': { parameters: { filters: 'filters' }, filters: ['label'] },
  'POST /volumes/create': { body: 'volume' },
  'GET /volumes/{volume}': { reply: 'volume' },
  'DELETE /volumes/{volume}': {},
  'GET /containers/json': {
    parameters: { all: flag, filters: 'filters' },
    filters: ['label', 'network'],
  },
  'POST /containers/create': { parameters: { name }, body: 'container' },
  'GET /containers/{container}/json': {},
  'GET /containers/{container}/logs': {
    parameters: { stdout: flag, stderr: flag, follow: /^(false|0)$/, tail: /^(all|\d{1,7})$/ },
  },
  'GET /containers/{container}/stats': { parameters: { stream: /^(false|0)$/, 'one-shot': flag } },
  'PUT /containers/{container}/archive': { parameters: { path: /^\/$/ }, body: 'archive' },
  'POST /containers/{container}/start': {},
  'POST /containers/{container}/stop': { parameters: { t: seconds } },
  'POST /containers/{container}/wait': { parameters: { condition: /^removed$/ } },
  'DELETE /containers/{container}': { parameters: { force: flag, v: flag } },
}

/** Forms of the names in a path. An image's name has slashes and a tag. */
const targetForms: Record<Target['kind'], string> = {
  container: '[A-Za-z0-9][A-Za-z0-9_.-]{0,127}',
  network: '[A-Za-z0-9][A-Za-z0-9_.-]{0,127}',
  volume: '[A-Za-z0-9][A-Za-z0-9_.-]{0,127}',
  image: '[a-z0-9][a-z0-9._:/-]{0,255}',
}

const rows = Object.entries(table).map(([call, row]) => {
  const [method = '', template = ''] = call.split(' ')
  const kind = /\{(\w+)\}/.exec(template)?.[1] as Target['kind'] | undefined
  const form = template.replaceAll('.', '\\.').replace(/\{\w+\}/, kind ? `(${targetForms[kind]})` : '')
  return { method, template, kind, row, pattern: new RegExp(`^${form}$`) }
})

/** Returns the call of a request line. Throws `RefusedCall`. `ownLabel` is `roost.install=<id>`. */
export function readCall(method: string, url: string, ownLabel: string): AllowedCall {
  const [path = '', query = '', ...rest] = url.split('?')
  // Engines decode and clean paths, so a path that is not already clean could mean another call to them.
  if (!/^\/[A-Za-z0-9_.:/-]*$/.test(path) || /\/\.{0,2}(\/|$)/.test(path) || rest.length > 0)
    throw new RefusedCall('The path must be clean: no escapes, empty segments or dots.')
  if (/^\/v\d/.test(path)) throw new RefusedCall('The path must not name a version of the Engine API.')
  for (const { method: allowed, template, kind, row, pattern } of rows) {
    const found = allowed === method ? pattern.exec(path) : null
    if (!found) continue
    // The list of containers is not a container named `json`.
    if (kind && found[1] === 'json') continue
    return {
      method,
      path: template.replace(/\{\w+\}/, '{}'),
      target: kind ? { kind, name: found[1] ?? '' } : null,
      query: readQuery(query, row, ownLabel),
      body: row.body ?? 'none',
      reply: row.reply ?? 'as-is',
    }
  }
  throw new RefusedCall(`${method} ${path} is not among the calls that Roost makes.`)
}

function readQuery(text: string, row: Row, ownLabel: string): URLSearchParams {
  const query = new URLSearchParams()
  const { parameters = {} } = row
  for (const [key, value] of new URLSearchParams(text)) {
    const form = Object.hasOwn(parameters, key) ? parameters[key] : undefined
    if (form === undefined) throw new RefusedCall(`The parameter ${JSON.stringify(key)} is not allowed.`)
    if (query.has(key) && key !== 'type') throw new RefusedCall(`The parameter ${key} is repeated.`)
    if (form === 'filters') {
      query.set(key, JSON.stringify(readFilters(value, row.filters ?? [])))
      continue
    }
    if (!form.test(value)) throw new RefusedCall(`The parameter ${key} has a value that is not allowed.`)
    query.append(key, value)
  }
  if (!row.filters || row.reply === 'networks') return query
  const filters: Record<string, string[]> = JSON.parse(query.get('filters') ?? '{}')
  // Of several labels, all must match for Docker, but any one for events of Podman.
  if (filters.label?.some((label) => label !== ownLabel))
    throw new RefusedCall('The filter label must be the label of this installation.')
  query.set('filters', JSON.stringify({ ...filters, label: [ownLabel] }))
  return query
}

function readFilters(text: string, allowed: readonly string[]): Record<string, string[]> {
  const parsed = parseJson(text)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new RefusedCall('The parameter filters must be an object.')
  const filters: Record<string, string[]> = {}
  for (const [key, values] of Object.entries(parsed)) {
    const isList = Array.isArray(values) && values.every((value) => typeof value === 'string')
    if (!allowed.includes(key) || !isList)
      throw new RefusedCall(`The filter ${JSON.stringify(key)} is not allowed.`)
    filters[key] = values
  }
  return filters
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RefusedCall('The request has invalid JSON.')
  }
}
