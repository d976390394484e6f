/**
 * The response for each endpoint and kind of caller, derived from the server's own rules: every endpoint runs through
 * the guard. A changed rule changes the committed page, and no endpoint can be omitted.
 */
import { endpoints } from '@roost/contracts'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { type ErrorCode, statusOf } from '@roost/contracts/kit/errors'
import { createGuard } from '../../server/src/http/guard.ts'
import { type Caller, refuseAfter, refuseBefore } from '../../server/src/identity/access/index.ts'
import { Fault } from '../../server/src/kit/fault.ts'
import { entryPoints } from './entry-points.ts'
import { type Kind, kinds } from './kinds.ts'

/** `ok`, or status and name of the refusal. */
export type Verdict = string

/** Only the Workspace knows which person has access to which agent. */
export const byFeature = 'by feature'

export const nameOf = ({ method, path }: Pick<Endpoint, 'method' | 'path'>) => `${method} ${path}`

export async function verdictOf(endpoint: Endpoint, kind: Kind): Promise<Verdict> {
  // The public listener has no such path; `entryPoints` lists the internal listener's responses.
  if (endpoint.access.who === 'internal') return refusal('not_found')
  const agent = { id: 'a', name: 'scout', owner_id: 'creator', is_system: false }
  const guard = createGuard({
    async identify(): Promise<Caller> {
      if (kind.caller === 'refused') throw new Fault('invalid_token')
      if (kind.caller === 'ended run') throw new Fault('run_key_ended')
      return kind.caller
    },
    async agentAccess() {
      if (kind.relation === 'unpermitted') throw new Fault('agent_not_permitted')
      return kind.relation === null ? null : { agent, relation: kind.relation, mayWrite: !kind.isReader }
    },
    refuseBefore,
    refuseAfter,
  })
  try {
    await guard(endpoint.access, '', 'scout', () => {})
    const ownRefusal = endpoint.id === 'createSchedule' ? refusedSchedule(kind) : null
    if (ownRefusal) return refusal(ownRefusal)
    return endpoint.access.who === 'workspace' ? byFeature : 'ok'
  } catch (error) {
    if (error instanceof Fault) return refusal(error.code)
    throw error
  }
}

/** Only this route tells callers without access that the agent exists; it checks that itself, before the body. */
function refusedSchedule({ relation }: Kind): ErrorCode | null {
  if (relation === 'unpermitted') return 'agent_not_permitted'
  return relation === null || relation === 'permitted' ? 'agent_access_denied' : null
}

function refusal(code: ErrorCode): Verdict {
  return `${statusOf(code)} ${code}`
}

export async function accessPage(): Promise<string> {
  const tags = [...new Set(endpoints.map(({ tag }) => tag))]
  const sections: string[] = []
  for (const tag of tags) {
    const rows = endpoints.filter((endpoint) => endpoint.tag === tag).map(rowOf)
    sections.push('', `## ${tag}`, '', ...heading, ...(await Promise.all(rows)))
  }
  const entryPointRows = entryPoints.map(({ name, answers }) =>
    line(
      name,
      kinds.map(({ id }) => answers(id)),
    ),
  )
  return [
    '# Access',
    '',
    'For each route and kind of caller: `ok`, or the status and name of the refusal. `ok` means that the call passed the',
    'guard; the rules of the feature may still refuse it. A route refuses every caller that its rule does not name.',
    '`by feature` means a Workspace session or a signed-in person; the Workspace itself checks their access to agents.',
    '',
    ...kinds.map(({ id, description }) => `- **${id}**: ${description}`),
    ...sections,
    '',
    '## Entry points outside the endpoint list',
    '',
    'Sockets get a close code where a browser must be able to read it.',
    '',
    ...heading,
    ...entryPointRows,
    '',
  ].join('\n')
}

const heading = [
  line(
    '',
    kinds.map(({ id }) => id),
  ),
  `|${'---|'.repeat(kinds.length + 1)}`,
]

async function rowOf(endpoint: Endpoint): Promise<string> {
  return line(nameOf(endpoint), await Promise.all(kinds.map((kind) => verdictOf(endpoint, kind))))
}

function line(first: string, cells: string[]): string {
  return `| ${[first, ...cells].join(' | ')} |`
}

/** The rows of a page: name of the route or entry point → kind of caller → verdict. */
export function readPage(text: string): Map<string, Map<string, Verdict>> {
  const rows = new Map<string, Map<string, Verdict>>()
  for (const row of text.split('\n').filter((each) => /^\| \S/.test(each))) {
    const [name = '', ...cells] = row.slice(2, -2).split(' | ')
    rows.set(name, new Map(kinds.map(({ id }, index) => [id, cells[index] ?? ''])))
  }
  return rows
}
