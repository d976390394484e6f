import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Id, Timestamp } from '../kit/primitives.ts'
import { maxQueryLength, parseRunQuery } from './run-query.ts'

const tag = 'Executions'
const path = '/api/run-views'
const people = { who: 'any', gate: 'person' } as const

/** Saved views per person. */
export const maxRunViews = 100

/** The error names the mistake and its position. */
const RunViewQuery = z
  .string()
  .trim()
  .max(maxQueryLength)
  .superRefine((text, context) => {
    const { problem } = parseRunQuery(text)
    if (problem) context.addIssue({ code: 'custom', message: `is not a filter of runs. ${problem.message}` })
  })
  .describe('A filter in the language of the page Runs, such as `status:failed since:7d`.')
const name = z.string().trim().min(1).max(80)
const shared = z
  .boolean()
  .describe(
    'Also listed for everyone with the role operator or higher who can access the agent that it names.',
  )

export const RunView = z
  .object({
    id: Id,
    name: z.string(),
    query: z.string(),
    shared,
    is_own: z.boolean(),
    may_change: z.boolean().describe('True for the owner, and for admins.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'RunView' })
export type RunView = z.output<typeof RunView>

export const CreateRunView = z.object({ name, query: RunViewQuery, shared: shared.default(false) })
export type CreateRunView = z.output<typeof CreateRunView>

export const UpdateRunView = z.object({
  name: name.optional(),
  query: RunViewQuery.optional(),
  shared: shared.optional(),
})
export type UpdateRunView = z.output<typeof UpdateRunView>

const ViewParams = z.object({ id: z.string() })

export const listRunViews = endpoint({
  id: 'listRunViews',
  method: 'GET',
  path,
  summary: 'Saved views of the list of runs: your own, then those that others share',
  description:
    'A view is a named filter; the runs are those that the caller can access. Shared views of others are listed for the roles operator, creator and admin. A view that names an agent is listed only for people who can access the agent.',
  tag,
  access: people,
  returns: z.array(RunView),
})

export const createRunView = endpoint({
  id: 'createRunView',
  method: 'POST',
  path,
  summary: 'Save a view of the list of runs',
  description: `At most ${maxRunViews} per person, each with a unique name. Sharing needs the role operator or higher.`,
  tag,
  access: people,
  body: CreateRunView,
  returns: RunView,
  fails: ['role_required', 'already_exists', 'conflict'],
  audit: { type: 'configuration', action: 'create_run_view' },
})

export const updateRunView = endpoint({
  id: 'updateRunView',
  method: 'PATCH',
  path: `${path}/{id}`,
  summary: 'Rename, change or share a view',
  description: 'For the owner; admins may change shared views of others.',
  tag,
  access: people,
  params: ViewParams,
  body: UpdateRunView,
  returns: RunView,
  fails: ['not_found', 'role_required', 'already_exists'],
  audit: { type: 'configuration', action: 'update_run_view' },
})

export const deleteRunView = endpoint({
  id: 'deleteRunView',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Delete a view',
  description: 'For the owner; admins may delete shared views of others.',
  tag,
  access: people,
  params: ViewParams,
  returns: z.object({ message: z.string(), id: Id }),
  fails: ['not_found', 'role_required'],
  audit: { type: 'configuration', action: 'delete_run_view' },
})
