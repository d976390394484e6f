import { readPrincipal } from '../../identity/access/index.ts'
import type { ExecutionsTable } from './tables.ts'

type Row = Pick<
  ExecutionsTable,
  'principal' | 'triggered_by' | 'source_agent_name' | 'source_mcp_key_name' | 'source_user_email'
>

/**
 * On whose behalf a run works, in words. Names nobody whom the source of the run does not name to the same readers:
 * of a calling agent only the agent, of a stranger only the way in.
 */
export async function describePrincipal(
  row: Row,
  accountName: (userId: string) => Promise<string | null>,
): Promise<string | null> {
  const read = row.principal === null ? null : readPrincipal(row.principal)
  switch (read?.kind) {
    case 'user':
      return (await accountName(read.id)) ?? 'a deleted account'
    case 'email':
      return read.id
    case 'key':
      return `the connector ${row.source_mcp_key_name ?? ''}`.trim()
    case 'agent':
      return row.source_agent_name === null ? 'the agent itself' : `the agent ${row.source_agent_name}`
    case 'stranger':
      return strangerOf(row)
    case undefined:
      return null
  }
}

function strangerOf({ triggered_by, source_user_email }: Row): string {
  if (triggered_by === 'paid') return 'a payer'
  if (triggered_by === 'slack') return 'people in a Slack thread'
  return source_user_email === null
    ? 'a visitor of a public link'
    : `the visitor ${source_user_email} of a public link`
}
