import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { inQuery } from '../kit/in-query.ts'
import { AgentParams, Id, Timestamp } from '../kit/primitives.ts'
import {
  BlockInput,
  BlockPatch,
  CanvasBlock,
  CanvasTemplate,
  mostBlockBytes,
  mostBlocks,
  slotProblem,
} from './canvas-blocks.ts'
import { workspaceAccess, workspaceAgentPath } from './workspace.ts'

const tag = 'Canvas'
export const canvasAudiences = ['operator', 'roster'] as const
export type CanvasAudience = (typeof canvasAudiences)[number]
/** Of one agent. */
export const mostCanvases = 100
/** Where an agent names none. */
export const mainCanvas = 'main'
/** A canvas that nobody has written to for so long is shown as stale. */
export const canvasStaleDays = 7

export const canvasIdPattern = /^[A-Za-z0-9._-]{1,64}$/
export const CanvasId = z
  .string()
  .regex(canvasIdPattern, 'must be 1 to 64 letters, digits, ".", "_" and "-"')
  // An address with one of these means something else.
  .refine((id) => !['.', '..', 'shares'].includes(id), 'must not be ".", ".." or "shares"')
/** A new canvas is named by its address, so an address that names none is refused and not unknown. */
const NewCanvasParams = z.object({ name: z.string(), canvas_id: CanvasId })
const CanvasParams = z.object({ name: z.string(), canvas_id: z.string() })

const execution_id = Id.nullish()
  .transform((value) => value ?? null)
  .describe('The run of the agent in which this was made.')

export const CanvasBody = z
  .object({
    title: z
      .string()
      .trim()
      .max(300)
      .nullish()
      .transform((value) => value || null),
    blocks: z.array(BlockInput).max(mostBlocks),
    audience: z
      .enum(canvasAudiences)
      .nullish()
      .transform((value) => value ?? 'operator')
      .describe('`roster`: in the Workspace too, for everybody that the agent is shared with.'),
    template: CanvasTemplate.nullish().transform((value) => value ?? null),
    execution_id,
  })
  .superRefine(({ blocks, template }, context) => {
    const ids = new Set<string>()
    for (const [index, { id, slot }] of blocks.entries()) {
      const why = slotProblem(template, slot ?? null)
      if (why !== null) context.addIssue({ code: 'custom', path: ['blocks', index, 'slot'], message: why })
      if (typeof id !== 'string') continue
      if (ids.has(id)) {
        const message = `is the id of another block too: ${id}`
        context.addIssue({ code: 'custom', path: ['blocks', index, 'id'], message })
      }
      ids.add(id)
    }
  })
export type CanvasBody = z.output<typeof CanvasBody>

export const CanvasPatch = z.object({ blocks: z.array(BlockPatch).min(1).max(mostBlocks), execution_id })
export type CanvasPatch = z.output<typeof CanvasPatch>

/** A canvas without its blocks. */
export const CanvasSummary = z
  .object({
    agent_name: z.string(),
    canvas_id: z.string(),
    title: z.string().nullable(),
    audience: z.enum(canvasAudiences),
    template: CanvasTemplate.nullable(),
    pinned: z.boolean(),
    stale: z.boolean().describe(`Nobody has written to it for ${canvasStaleDays} days.`),
    created_at: Timestamp,
    updated_at: Timestamp,
    updated_by_execution_id: z.string().nullable(),
  })
  .meta({ id: 'CanvasSummary' })
export type CanvasSummary = z.output<typeof CanvasSummary>

export const Canvas = CanvasSummary.extend({ blocks: z.array(CanvasBlock) }).meta({ id: 'Canvas' })
export type Canvas = z.output<typeof Canvas>

// JSON may need up to three bytes for one of the content's, so the bound is checked after parsing.
const bodyLimit = 3 * mostBlockBytes + 64 * 1024
const writeFails = [
  'agent_not_found',
  'agent_identity_required',
  'execution_not_found',
  'body_too_large',
  'rate_limited',
] as const

export const listCanvases = endpoint({
  id: 'listCanvases',
  method: 'GET',
  path: '/api/agents/{name}/canvas',
  summary: 'Canvases of an agent without their blocks: pinned ones first, then by their last change',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: z.array(CanvasSummary),
  fails: ['agent_not_found'],
})

export const getCanvas = endpoint({
  id: 'getCanvas',
  method: 'GET',
  path: '/api/agents/{name}/canvas/{canvas_id}',
  summary: 'One canvas',
  tag,
  access: { who: 'access' },
  params: CanvasParams,
  returns: Canvas,
  fails: ['agent_not_found', 'canvas_not_found'],
})

export const putCanvas = endpoint({
  id: 'putCanvas',
  method: 'PUT',
  path: '/api/agents/{name}/canvas/{canvas_id}',
  summary: 'Write a canvas, new or anew',
  description: `By the agent itself, or a person with access. Replaces everything but the pin and the links. At most ${mostBlocks} blocks of together 512 KiB (413 above), ${mostCanvases} canvases for each agent (409 above) and 60 writes a minute. HTML is kept without scripts, styles, forms and frames.`,
  tag,
  access: { who: 'access' },
  params: NewCanvasParams,
  body: CanvasBody,
  bodyLimit,
  returns: Canvas,
  fails: [...writeFails, 'conflict'],
  audit: { type: 'execution', action: 'set_canvas' },
})

export const patchCanvas = endpoint({
  id: 'patchCanvas',
  method: 'PATCH',
  path: '/api/agents/{name}/canvas/{canvas_id}',
  summary: 'Change blocks of a canvas, named by their ids',
  description:
    'What a block leaves out stays as it is; its payload is replaced whole. All blocks are changed or none; an unknown id is 422. Changes that come at once follow one another, so none is lost.',
  tag,
  access: { who: 'access' },
  params: CanvasParams,
  body: CanvasPatch,
  bodyLimit,
  returns: Canvas,
  fails: [...writeFails, 'canvas_not_found'],
  audit: { type: 'execution', action: 'patch_canvas' },
})

export const deleteCanvas = endpoint({
  id: 'deleteCanvas',
  method: 'DELETE',
  path: '/api/agents/{name}/canvas/{canvas_id}',
  summary: 'Delete a canvas and its links',
  tag,
  access: { who: 'owner' },
  params: CanvasParams,
  returns: z.object({ canvas_id: z.string(), deleted: z.literal(true) }),
  fails: ['agent_not_found', 'owner_required', 'canvas_not_found', 'rate_limited'],
  audit: { type: 'execution', action: 'delete_canvas' },
})

export const pinCanvas = endpoint({
  id: 'pinCanvas',
  method: 'PUT',
  path: '/api/agents/{name}/canvas/{canvas_id}/pin',
  summary: 'Put a canvas first, or no longer',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: CanvasParams,
  body: z.object({ pinned: z.boolean() }),
  returns: CanvasSummary,
  fails: ['agent_not_found', 'owner_required', 'person_required', 'canvas_not_found'],
  audit: { type: 'configuration', action: 'pin_canvas' },
})

const DeleteCanvasesBody = z.object({ canvas_ids: z.array(z.string().max(64)).min(1).max(100) })

export const deleteCanvases = endpoint({
  id: 'deleteCanvases',
  method: 'POST',
  path: '/api/agents/{name}/canvas/bulk-delete',
  summary: 'Delete several canvases; those that are gone already are passed over',
  tag,
  access: { who: 'owner', gate: 'person' },
  strict: true,
  params: AgentParams,
  query: inQuery(DeleteCanvasesBody),
  body: DeleteCanvasesBody,
  bodyOptional: true,
  returns: z.object({
    agent_name: z.string(),
    requested: z.number().int(),
    deleted: z.array(z.string()),
  }),
  fails: ['agent_not_found', 'owner_required', 'person_required', 'rate_limited'],
  audit: { type: 'execution', action: 'delete_canvases' },
})

export const listRosterCanvases = endpoint({
  id: 'listWorkspaceCanvases',
  method: 'GET',
  path: workspaceAgentPath('/canvas'),
  summary: 'Canvases that an agent shows to the people of the Workspace',
  tag: 'Workspace',
  access: workspaceAccess,
  params: AgentParams,
  returns: z.array(CanvasSummary),
  fails: ['agent_not_found'],
})

export const getRosterCanvas = endpoint({
  id: 'getWorkspaceCanvas',
  method: 'GET',
  path: workspaceAgentPath('/canvas/{canvas_id}'),
  summary: 'One of them',
  tag: 'Workspace',
  access: workspaceAccess,
  params: CanvasParams,
  returns: Canvas,
  fails: ['agent_not_found', 'canvas_not_found'],
})

const fields = z.object({ canvas_id: z.string(), title: z.string().nullable() })
export const canvasUpdated = eventType({ name: 'canvas.updated', stored: true, fields })
export const canvasDeleted = eventType({ name: 'canvas.deleted', stored: true, fields })
