import { keyScopes } from '@roost/contracts/kit/access'
import { isSeenBy } from '../mcp/src/catalogue.ts'
import { tools } from '../mcp/src/tools/index.ts'

/** Generates `docs/reference/mcp-tools.md`: every tool with its endpoints and the keys that see it. */
export function toolsPage(): string {
  const rows = tools.map((tool) => {
    const parameters = Object.entries(tool.input.shape).map(
      ([name, type]) => `${name}${type.safeParse(undefined).success ? '?' : ''}`,
    )
    const endpoints = new Set(tool.requests.map(({ endpoint }) => `\`${endpoint.method} ${endpoint.path}\``))
    const marks = keyScopes.map((scope) => {
      if (!isSeenBy(tool, scope)) return '—'
      return tool.audience === 'agent' && scope !== 'agent' ? 'refused' : 'yes'
    })
    const cells = [
      `\`${tool.name}\``,
      parameters.join(', '),
      [...endpoints].join(', '),
      tool.effect,
      ...marks,
    ]
    return `| ${cells.join(' | ')} |`
  })
  const differences = tools.flatMap(({ name, requests, own }) => [
    ...requests.flatMap(({ endpoint, differs, leftOut }) => [
      ...Object.entries(differs).map(([field, reason]) =>
        row(name, endpoint.id, `\`${field}\` differs`, reason),
      ),
      ...Object.entries(leftOut).map(([field, reason]) =>
        row(name, endpoint.id, `without \`${field}\``, reason),
      ),
    ]),
    ...Object.entries(own).map(([parameter, reason]) => row(name, '', `adds \`${parameter}\``, reason)),
  ])
  const header = ['Tool', 'Parameters', 'Endpoints', 'Effect', ...keyScopes.map((scope) => `\`${scope}\``)]
  return [
    '# MCP tools',
    '',
    'The MCP server at `/mcp` shows each key the tools of its scope; the others do not exist for that key. A call does',
    'what the key may do over the REST API. `refused` means that the key sees the tool and gets',
    '`agent_identity_required`, because the acting agent is taken from the key. Each published agent adds a tool',
    '`chat_with_<slug>` for keys that can reach it. A parameter with `?` is optional.',
    '',
    `| ${header.join(' | ')} |`,
    `|${header.map(() => '---').join('|')}|`,
    ...rows,
    '',
    '## Differences from the endpoints',
    '',
    'The parameters of a tool are the fields of its endpoints: same types, bounds and values. These are all differences.',
    'A name in braces is a parameter of the path. Names alone are not listed, such as `agent_name` for `{name}`.',
    '',
    '| Tool | Endpoint | Difference | Reason |',
    '|---|---|---|---|',
    ...differences,
    '',
  ].join('\n')
}

function row(...cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}
