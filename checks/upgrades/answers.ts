/** Everything that a platform answers to people about its rows, by path. Works with all releases. */
import { eventually } from '../acceptance/platform.ts'

/** One request and its response; `who` names the token. */
export type Answer = { who: string; path: string; status: number; body: unknown }
export type Ask = (who: string, path: string) => Promise<Omit<Answer, 'who' | 'path'>>

/** Paths that describe the machine, the running process or the present moment instead of stored rows. */
const moment =
  /\/stream$|\/stats$|\/logs$|\/info$|\/activity$|^\/metrics|^\/health|^\/api\/(internal|telemetry|monitoring|version|ops|system-agent|templates)|\/export$|\/(files|git|egress|voip|metrics|playbooks|connector|mcp-key|scheduler)(\/|$)|\/(slots|context-stats|sync-health|feature-flags|timeline|mcp-url|queue|execution-stats|capacity|running|credential-requirements|available)$|\/credentials\/status$|\/settings\/(templates|\{key\})|\/preferences\/\{key\}|\/search$|\/next$/

/** Lists whose items have a page of their own: the page's path, and the list with its ids. */
const lists: Record<string, { list: string; id: string }> = {
  '/api/agents/{name}/executions/{id}': { list: '/api/agents/{name}/executions', id: 'id' },
  '/api/agents/{name}/executions/{id}/log': { list: '/api/agents/{name}/executions', id: 'id' },
  '/api/agents/{name}/chat/sessions/{id}': { list: '/api/agents/{name}/chat/sessions', id: 'id' },
  '/api/agents/{name}/sessions/{id}': { list: '/api/agents/{name}/sessions', id: 'id' },
  '/api/agents/{name}/schedules/{id}': { list: '/api/agents/{name}/schedules', id: 'id' },
  '/api/agents/{name}/schedules/{id}/executions': { list: '/api/agents/{name}/schedules', id: 'id' },
  '/api/agents/{name}/schedules/{id}/fires': { list: '/api/agents/{name}/schedules', id: 'id' },
  '/api/agents/{name}/schedules/{id}/webhook': { list: '/api/agents/{name}/schedules', id: 'id' },
  '/api/agents/{name}/schedules/{id}/analytics': { list: '/api/agents/{name}/schedules', id: 'id' },
  '/api/loops/{loop_id}': { list: '/api/agents/{name}/loops', id: 'id' },
  '/api/agents/{name}/operator-queue/{request_id}': {
    list: '/api/agents/{name}/operator-queue',
    id: 'request_id',
  },
  '/api/operator-queue/{id}': { list: '/api/operator-queue', id: 'id' },
  '/api/agents/{name}/reports/{id}': { list: '/api/agents/{name}/reports', id: 'id' },
  '/api/reports/{id}': { list: '/api/reports', id: 'id' },
  '/api/agents/{name}/canvas/{canvas_id}': { list: '/api/agents/{name}/canvas', id: 'canvas_id' },
  '/api/agents/{name}/public-links/{id}': { list: '/api/agents/{name}/public-links', id: 'id' },
  '/api/mcp/keys/{id}': { list: '/api/mcp/keys', id: 'id' },
  '/api/event-subscriptions/{id}': { list: '/api/agents/{name}/event-subscriptions', id: 'id' },
  '/api/subscriptions/{id}/usage': { list: '/api/subscriptions', id: 'id' },
  '/api/skills/library/{name}': { list: '/api/skills/library', id: 'name' },
}

/** Reads every path of an OpenAPI document as each caller, with `known` paths that no list leads to. */
export async function readAnswers(options: {
  ask: Ask
  paths: readonly string[]
  agents: readonly string[]
  callers: readonly string[]
  known: readonly string[]
}): Promise<Answer[]> {
  const { ask, paths, agents, callers, known } = options
  const answers: Answer[] = []
  const read = async (who: string, path: string) => {
    if (answers.some((each) => each.who === who && each.path === path)) return
    answers.push({ who, path, ...(await ask(who, path)) })
  }
  const withAgent = (path: string) =>
    path.includes('/agents/{name}')
      ? agents.map((name) => path.replace('/agents/{name}', `/agents/${name}`))
      : [path]
  for (const who of callers) {
    for (const path of paths.filter((each) => !moment.test(each))) {
      const source = lists[path]
      if (source) {
        for (const list of withAgent(source.list)) {
          const agent = /\/agents\/([^/]+)/.exec(list)?.[1] ?? ''
          for (const id of idsIn((await ask(who, list)).body, source.id))
            await read(
              who,
              path.replace('/agents/{name}', `/agents/${agent}`).replace(/\{\w+\}/, encodeURIComponent(id)),
            )
        }
      } else for (const each of withAgent(path)) if (!each.includes('{')) await read(who, each)
    }
    for (const path of known) await read(who, path)
  }
  return answers.sort((a, b) => (`${a.who} ${a.path}` < `${b.who} ${b.path}` ? -1 : 1))
}

/** The values of `field` in the first list of a body. */
function idsIn(body: unknown, field: string): string[] {
  const list = Array.isArray(body) ? body : Object.values(body ?? {}).find((each) => Array.isArray(each))
  return (list ?? []).flatMap((item: unknown) => {
    const id = typeof item === 'object' && item !== null ? (item as Record<string, unknown>)[field] : null
    return typeof id === 'string' ? [id] : []
  })
}

/** Returns requests of one platform with these tokens. */
export function askWith(url: string, tokens: Readonly<Record<string, string>>): Ask {
  return async (who, path) => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${tokens[who]}` } })
    const text = await response.text()
    try {
      return { status: response.status, body: JSON.parse(text) }
    } catch {
      return { status: response.status, body: text }
    }
  }
}

export { eventually }
