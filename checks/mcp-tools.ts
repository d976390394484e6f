import { keyScopes } from '@roost/contracts/kit/access'
import { isSeenBy } from '../mcp/src/catalogue.ts'
import { tools } from '../mcp/src/tools/index.ts'

/** `docs/reference/mcp-tools.md`: every tool of the MCP server and the keys that see it. */
export function toolsPage(): string {
  const rows = tools.map((tool) => {
    const parameters = Object.entries(tool.input.shape).map(
      ([name, type]) => `${name}${type.safeParse(undefined).success ? '?' : ''}`,
    )
    const marks = keyScopes.map((scope) => {
      if (!isSeenBy(tool, scope)) return '—'
      return tool.audience === 'agent' && scope !== 'agent' ? 'refused' : 'yes'
    })
    return `| \`${tool.name}\` | ${parameters.join(', ')} | ${tool.effect} | ${marks.join(' | ')} |`
  })
  return [
    '# MCP tools',
    '',
    'The MCP server at `/mcp` shows each key the tools of its scope; the others do not exist for it. A call does',
    'what the key itself may do over the REST API. `refused`: seen, and answered `agent_identity_required`, because',
    'the acting agent is taken from the key. `chat_with_<slug>` of each published agent comes on top, for keys that',
    'reach it. A parameter with `?` may be left out.',
    '',
    `| Tool | Parameters | Effect | ${keyScopes.map((scope) => `\`${scope}\``).join(' | ')} |`,
    `|---|---|---|${keyScopes.map(() => '---').join('|')}|`,
    ...rows,
    '',
  ].join('\n')
}
