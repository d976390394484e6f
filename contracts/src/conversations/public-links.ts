import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { AgentParams, Id, Timestamp, TimestampInput } from '../kit/primitives.ts'

const tag = 'Public links'
const path = '/api/agents/{name}/public-links'

export const maxLinkNameLength = 100
export const maxDailyMessages = 100_000
export const maxGreetingLength = 500
export const maxStarterQuestions = 4
export const maxQuestionLength = 200

const name = z.string().trim().max(maxLinkNameLength, `must be at most ${maxLinkNameLength} characters`)
const dailyLimit = z.number().int().min(1).max(maxDailyMessages)
const greeting = z.string().trim().max(maxGreetingLength, `must be at most ${maxGreetingLength} characters`)
/** One line, because it becomes a button and a message. */
const question = z
  .string()
  .overwrite((text) => text.replaceAll(/\s+/g, ' ').trim())
  .min(1, 'must not be empty')
  .max(maxQuestionLength, `must be at most ${maxQuestionLength} characters`)
const starterQuestions = z
  .array(question)
  .max(maxStarterQuestions, `must be at most ${maxStarterQuestions} questions`)

/** Omitted fields keep the stored value, or the default of a new link; null clears optional ones. */
export const PublicLinkBody = z.object({
  name: name.nullish(),
  enabled: z.boolean().nullish(),
  expires_at: TimestampInput.nullish().describe('Must be in the future.'),
  require_email: z.boolean().nullish(),
  daily_message_limit: dailyLimit.nullish().describe('Messages of all visitors per UTC day.'),
  greeting: greeting.nullish().describe('Plain text that visitors read before their first message.'),
  starter_questions: starterQuestions
    .nullish()
    .describe('Visitors send one of them with a click instead of typing a first message.'),
})
export type PublicLinkBody = z.output<typeof PublicLinkBody>

export const PublicLink = z
  .object({
    id: Id,
    agent_name: z.string(),
    token: z.string(),
    url: z.string().describe('Anyone who knows this address can chat with the agent.'),
    name: z.string().nullable(),
    enabled: z.boolean(),
    require_email: z.boolean(),
    expires_at: Timestamp.nullable(),
    daily_message_limit: z.number().int().nullable(),
    greeting: z.string().nullable(),
    starter_questions: z.array(z.string()),
    created_by: z.string(),
    created_at: Timestamp,
    usage: z.object({
      total_messages: z.number().int(),
      unique_people: z.number().int(),
      last_used_at: Timestamp.nullable(),
    }),
  })
  .meta({ id: 'PublicLink' })
export type PublicLink = z.output<typeof PublicLink>

const LinkParams = z.object({ name: z.string(), id: z.string() })
const owner = { who: 'owner' } as const
const ownerPerson = { who: 'owner', gate: 'person' } as const
const fails = ['agent_not_found', 'feature_disabled', 'link_not_found'] as const

export const listPublicLinks = endpoint({
  id: 'listPublicLinks',
  method: 'GET',
  path,
  summary: 'List the public links of an agent',
  tag,
  access: owner,
  params: AgentParams,
  returns: z.array(PublicLink),
  fails: ['agent_not_found', 'feature_disabled'],
})

export const createPublicLink = endpoint({
  id: 'createPublicLink',
  method: 'POST',
  path,
  summary: 'Create a public link to an agent',
  description:
    'Anyone with the address may chat with the agent without an account. With `require_email`, visitors confirm a code by e-mail, which requires configured mail.',
  tag,
  access: ownerPerson,
  params: AgentParams,
  body: PublicLinkBody,
  bodyOptional: true,
  status: 201,
  returns: PublicLink,
  fails: ['agent_not_found', 'feature_disabled', 'system_agent_protected'],
  audit: { type: 'sharing', action: 'create_public_link' },
})

export const getPublicLink = endpoint({
  id: 'getPublicLink',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Get a public link',
  tag,
  access: owner,
  params: LinkParams,
  returns: PublicLink,
  fails,
})

export const updatePublicLink = endpoint({
  id: 'updatePublicLink',
  method: 'PUT',
  path: `${path}/{id}`,
  summary: 'Change a public link',
  description: 'Disabling it ends its turns in progress.',
  tag,
  access: ownerPerson,
  params: LinkParams,
  body: PublicLinkBody,
  returns: PublicLink,
  fails,
  audit: { type: 'sharing', action: 'update_public_link' },
})

export const deletePublicLink = endpoint({
  id: 'deletePublicLink',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Delete a public link and its conversations',
  description: 'Its address returns 404 immediately. The records of its runs stay.',
  tag,
  access: ownerPerson,
  params: LinkParams,
  returns: z.object({ message: z.string(), link_id: Id }),
  fails,
  audit: { type: 'sharing', action: 'delete_public_link' },
})

const fields = z.object({ link_id: Id, name: z.string().nullable(), enabled: z.boolean() })
export const publicLinkCreated = eventType({ name: 'public_link.created', stored: true, fields })
export const publicLinkUpdated = eventType({ name: 'public_link.updated', stored: true, fields })
export const publicLinkDeleted = eventType({ name: 'public_link.deleted', stored: true, fields })
