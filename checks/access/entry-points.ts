/** Ways into the server outside the endpoint list. Each has its own rule, stated here and compared with the server. */
export type EntryPoint = {
  name: string
  /** Where the credential is sent: as bearer, in the query, or as a socket ticket if the caller can get one. */
  sends: 'bearer' | 'query' | 'ticket'
  listener: 'public' | 'internal'
  method: 'GET' | 'POST' | 'WS'
  path: string
  answers(kind: string): string
}

const people = ['stranger', 'shared', 'reader', 'owner', 'demoted owner', 'admin']
const agents = ['agent key', 'permitted agent', 'other agent']
const everybody = () => 'ok'
const notFound = () => '404 not_found'
const withoutSecret = (kind: string) => (kind === 'nobody' ? '401 not_authenticated' : '401 invalid_token')

export const entryPoints: readonly EntryPoint[] = [
  page('/docs', 'GET /docs'),
  page('/openapi.json', 'GET /openapi.json'),
  page('/', 'GET / (pages)'),
  page('/help', 'GET /help (guides)'),
  page('/help/tutorial', 'GET /help/* (guides)'),
  page('/help/errors/not_found', 'GET /help/errors/{code}'),
  {
    name: 'WS /ws',
    sends: 'ticket',
    listener: 'public',
    method: 'WS',
    path: '/ws',
    answers: (kind) => ([...people, 'user key', 'system key'].includes(kind) ? 'ok' : 'close 4001'),
  },
  {
    name: 'WS /ws/events',
    sends: 'query',
    listener: 'public',
    method: 'WS',
    path: '/ws/events',
    answers(kind) {
      if (['nobody', 'refused', 'ended run', ...people].includes(kind)) return 'close 4001'
      return [...agents, 'owner run', 'foreign run', 'user key', 'system key'].includes(kind)
        ? 'ok'
        : 'close 4003'
    },
  },
  {
    name: 'WS /ws/voice/{session_id} (with a ticket of another kind)',
    sends: 'ticket',
    listener: 'public',
    method: 'WS',
    path: '/ws/voice/{session_id}',
    answers: () => 'close 4001',
  },
  {
    name: 'WS /api/agents/{name}/terminal (of an agent that does not run)',
    sends: 'ticket',
    listener: 'public',
    method: 'WS',
    path: '/api/agents/scout/terminal',
    answers(kind) {
      if (['owner', 'demoted owner', 'admin'].includes(kind)) return 'close 4004'
      return ['stranger', 'shared', 'reader', 'user key', 'system key'].includes(kind)
        ? 'close 4003'
        : 'close 4001'
    },
  },
  hidden('WS', '/link'),
  hidden('POST', '/broker/anthropic/v1/messages'),
  hidden('GET', '/api/internal/health'),
  hidden('GET', '/metrics'),
  {
    name: 'WS /link (internal)',
    sends: 'bearer',
    listener: 'internal',
    method: 'WS',
    path: '/link',
    answers(kind) {
      if (kind === 'nobody') return '401 not_authenticated'
      if (kind === 'refused') return '401 invalid_token'
      if (kind === 'ended run') return '401 run_key_ended'
      return agents.includes(kind) ? 'ok' : 'close 4003'
    },
  },
  {
    name: 'POST /broker/* (internal, takes the token of a run alone)',
    sends: 'bearer',
    listener: 'internal',
    method: 'POST',
    path: '/broker/anthropic/v1/messages',
    answers: () => '401',
  },
  {
    name: 'GET /api/internal/* (internal, takes the internal secret alone)',
    sends: 'bearer',
    listener: 'internal',
    method: 'GET',
    path: '/api/internal/health',
    answers: withoutSecret,
  },
  {
    name: 'GET /metrics (internal, takes the internal secret or the token of the metrics)',
    sends: 'bearer',
    listener: 'internal',
    method: 'GET',
    path: '/metrics',
    answers: withoutSecret,
  },
  {
    name: 'GET /api/agents (internal)',
    sends: 'bearer',
    listener: 'internal',
    method: 'GET',
    path: '/api/agents',
    answers: notFound,
  },
]

function page(path: string, name: string): EntryPoint {
  return { name, sends: 'bearer', listener: 'public', method: 'GET', path, answers: everybody }
}

/** Paths that only the internal listener has. */
function hidden(method: EntryPoint['method'], path: string): EntryPoint {
  return {
    name: `${method} ${path} (public)`,
    sends: 'bearer',
    listener: 'public',
    method,
    path,
    answers: notFound,
  }
}
