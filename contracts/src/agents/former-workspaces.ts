import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'
import { Restore } from './workspace-restore.ts'

const tag = 'History'
const path = '/api/agents/{name}/former-workspaces'

export const FormerWorkspace = z
  .object({
    id: z.string(),
    left_at: Timestamp.describe('When the agent got another workspace.'),
    record: z
      .string()
      .nullable()
      .describe('The record that the agent continued from. It has nothing that was written later.'),
    available: z
      .boolean()
      .describe('False while its container may still run on a node that the cluster does not reach.'),
  })
  .meta({ id: 'FormerWorkspace' })
export type FormerWorkspace = z.output<typeof FormerWorkspace>

export const FormerList = z.object({
  workspaces: z.array(FormerWorkspace),
  filling: Restore.nullable().describe(
    'The restore that fills the present workspace from the record. Until it has succeeded, no run starts.',
  ),
})

export type FormerList = z.output<typeof FormerList>

const params = AgentParams.extend({ workspace: z.string() })
const access = { who: 'owner', gate: 'person' } as const

export const listFormerWorkspaces = endpoint({
  id: 'listFormerWorkspaces',
  method: 'GET',
  path,
  summary: 'Workspaces that an agent left on lost nodes, newest first',
  description:
    'On a cluster, an agent whose node is lost continues from its latest record if `start_from_record` is set. What it ' +
    'leaves is kept until it is discarded.',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  returns: FormerList,
  fails: ['agent_not_found'],
})

export const useFormerWorkspace = endpoint({
  id: 'useFormerWorkspace',
  method: 'POST',
  path: `${path}/{workspace}/use`,
  summary: 'Let a stopped agent continue in a former workspace',
  description: 'Its present workspace becomes a former one.',
  tag,
  access,
  params,
  returns: FormerList,
  fails: ['agent_not_found', 'not_found', 'conflict'],
  audit: { type: 'configuration', action: 'use_former_workspace' },
})

export const discardFormerWorkspace = endpoint({
  id: 'discardFormerWorkspace',
  method: 'DELETE',
  path: `${path}/{workspace}`,
  summary: 'Delete a former workspace for good',
  tag,
  access,
  params,
  returns: FormerList,
  fails: ['agent_not_found', 'not_found'],
  audit: { type: 'configuration', action: 'discard_former_workspace' },
})
