/** Ways in that are no endpoints: each has a rule of its own, written down here and held against the server. */
export type Door = {
  name: string
  /** How the credential is shown: as bearer, in the query, or as a socket ticket where one is given out for it. */
  shown: 'bearer' | 'query' | 'ticket'
  listener: 'public' | 'internal'
  method: 'GET' | 'POST' | 'WS'
  path: string
  answers(kind: string): string
}

const people = ['stranger', 'shared', 'owner', 'demoted owner', 'admin']
const agents = ['agent key', 'permitted agent', 'other agent']
const everybody = () => 'ok'
const isNotThere = () => '404 not_found'

export const doors: readonly Door[] = [
  page('/docs', 'GET /docs'),
  page('/openapi.json', 'GET /openapi.json'),
  page('/', 'GET / (pages)'),
  {
    name: 'WS /ws',
    shown: 'ticket',
    listener: 'public',
    method: 'WS',
    path: '/ws',
    answers: (kind) => ([...people, 'user key', 'system key'].includes(kind) ? 'ok' : 'close 4001'),
  },
  {
    name: 'WS /ws/events',
    shown: 'query',
    listener: 'public',
    method: 'WS',
    path: '/ws/events',
    answers(kind) {
      if (['nobody', 'refused', ...people].includes(kind)) return 'close 4001'
      return [...agents, 'user key', 'system key'].includes(kind) ? 'ok' : 'close 4003'
    },
  },
  {
    name: 'WS /ws/voice/{session_id} (with a ticket of another kind)',
    shown: 'ticket',
    listener: 'public',
    method: 'WS',
    path: '/ws/voice/{session_id}',
    answers: () => 'close 4001',
  },
  {
    name: 'WS /api/agents/{name}/terminal (of an agent that does not run)',
    shown: 'ticket',
    listener: 'public',
    method: 'WS',
    path: '/api/agents/scout/terminal',
    answers(kind) {
      if (['owner', 'demoted owner', 'admin'].includes(kind)) return 'close 4004'
      return ['stranger', 'shared', 'user key', 'system key'].includes(kind) ? 'close 4003' : 'close 4001'
    },
  },
  hidden('WS', '/link'),
  hidden('POST', '/broker/anthropic/v1/messages'),
  hidden('GET', '/api/internal/health'),
  hidden('GET', '/metrics'),
  {
    name: 'WS /link (internal)',
    shown: 'bearer',
    listener: 'internal',
    method: 'WS',
    path: '/link',
    answers(kind) {
      if (kind === 'nobody') return '401 not_authenticated'
      if (kind === 'refused') return '401 invalid_token'
      return agents.includes(kind) ? 'ok' : 'close 4003'
    },
  },
  {
    name: 'POST /broker/* (internal, takes the token of a run alone)',
    shown: 'bearer',
    listener: 'internal',
    method: 'POST',
    path: '/broker/anthropic/v1/messages',
    answers: () => '401',
  },
  {
    name: 'GET /api/internal/health (internal, from loopback)',
    shown: 'bearer',
    listener: 'internal',
    method: 'GET',
    path: '/api/internal/health',
    answers: everybody,
  },
  {
    name: 'GET /api/agents (internal)',
    shown: 'bearer',
    listener: 'internal',
    method: 'GET',
    path: '/api/agents',
    answers: isNotThere,
  },
]

function page(path: string, name: string): Door {
  return { name, shown: 'bearer', listener: 'public', method: 'GET', path, answers: everybody }
}

/** What the internal listener has and the public one has not, whatever the credential. */
function hidden(method: Door['method'], path: string): Door {
  return {
    name: `${method} ${path} (public)`,
    shown: 'bearer',
    listener: 'public',
    method,
    path,
    answers: isNotThere,
  }
}
