import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, Timestamp, TimestampInput } from '../kit/primitives.ts'
import { Canvas } from './canvas.ts'

const tag = 'Canvas'
export const shareScopes = ['authorized', 'public'] as const
export type ShareScope = (typeof shareScopes)[number]
/** Path of a shared canvas, followed by its token. */
export const sharedCanvasPath = '/canvas/s/'

const time = Timestamp.nullable()

/** A link to one canvas. */
export const CanvasShare = z
  .object({
    id: Id,
    agent_name: z.string(),
    canvas_id: z.string(),
    token: z.string(),
    scope: z
      .enum(shareScopes)
      .describe('`public`: anyone with the link; `authorized`: signed-in people with access to the agent.'),
    url: z.string(),
    created_at: Timestamp,
    expires_at: time,
    revoked_at: time,
    last_viewed_at: time,
    view_count: z.number().int().describe('Counts one view per address and minute.'),
  })
  .meta({ id: 'CanvasShare' })
export type CanvasShare = z.output<typeof CanvasShare>

export const ShareBody = z.object({
  scope: z
    .enum(shareScopes)
    .nullish()
    .transform((value) => value ?? 'authorized'),
  expires_at: TimestampInput.nullish().transform((value) => value ?? null),
})
export type ShareBody = z.output<typeof ShareBody>

/** The canvas that a link shows, without its execution. */
export const SharedCanvas = Canvas.omit({ updated_by_execution_id: true }).meta({ id: 'SharedCanvas' })
export type SharedCanvas = z.output<typeof SharedCanvas>

export const shareCanvas = endpoint({
  id: 'shareCanvas',
  method: 'POST',
  path: '/api/agents/{name}/canvas/{canvas_id}/share',
  summary: 'Create a link to a canvas',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: z.object({ name: z.string(), canvas_id: z.string() }),
  body: ShareBody,
  bodyOptional: true,
  status: 201,
  returns: CanvasShare,
  fails: ['agent_not_found', 'owner_required', 'person_required', 'canvas_not_found'],
  audit: { type: 'sharing', action: 'share_canvas' },
})

export const listCanvasShares = endpoint({
  id: 'listCanvasShares',
  method: 'GET',
  path: '/api/agents/{name}/canvas/shares',
  summary: 'Links to canvases of an agent, newest first, including expired and revoked ones',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  query: z.object({ canvas_id: z.string().max(64).optional() }),
  returns: z.array(CanvasShare),
  fails: ['agent_not_found', 'owner_required'],
})

export const revokeCanvasShare = endpoint({
  id: 'revokeCanvasShare',
  method: 'DELETE',
  path: '/api/agents/{name}/canvas/shares/{share_id}',
  summary: 'Revoke a link; repeating it succeeds',
  tag,
  access: { who: 'owner' },
  params: z.object({ name: z.string(), share_id: z.string() }),
  returns: z.object({ share_id: z.string(), revoked: z.literal(true) }),
  fails: ['agent_not_found', 'owner_required', 'link_not_found'],
  audit: { type: 'sharing', action: 'revoke_canvas_share' },
})

export const readSharedCanvas = endpoint({
  id: 'readSharedCanvas',
  method: 'GET',
  path: '/api/public/canvas/{token}',
  summary: 'Get a shared canvas',
  description:
    'A public link needs no credential. An authorized one requires a platform or Workspace session, and each call checks that the person still has access. Unknown, expired, revoked and deleted links are 404. At most 60 a minute from one address.',
  tag,
  access: { who: 'none' },
  params: z.object({ token: z.string() }),
  returns: SharedCanvas,
  fails: ['canvas_not_found', 'sign_in_required', 'access_recheck_failed', 'rate_limited'],
})
