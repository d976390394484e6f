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
/** Maximum per agent. */
export const mostCanvases = 100
/** Default canvas of an agent. */
export const mainCanvas = 'main'
/** A canvas without a write for this time is stale. */
export const canvasStaleDays = 7

export const canvasIdPattern = /^[A-Za-z0-9._-]{1,64}$/
export const CanvasId = z
  .string()
  .regex(canvasIdPattern, 'must be 1 to 64 letters, digits, ".", "_" and "-"')
  // These are other paths.
  .refine((id) => !['.', '..', 'shares'].includes(id), 'must not be ".", ".." or "shares"')
/** The path names a new canvas, so an invalid id is a validation error, not 404. */
const NewCanvasParams = z.object({ name: z.string(), canvas_id: CanvasId })
const CanvasParams = z.object({ name: z.string(), canvas_id: z.string() })

const execution_id = Id.nullish()
  .transform((value) => value ?? null)
  .describe('The run that made this change.')

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
      .describe('`roster`: also visible in the Workspace to everyone the agent is shared with.'),
    template: CanvasTemplate.nullish().transform((value) => value ?? null),
    execution_id,
  })
  .superRefine(({ blocks, template }, context) => {
    const ids = new Set<string>()
    for (const [index, { id, slot }] of blocks.entries()) {
      const problem = slotProblem(template, slot ?? null)
      if (problem !== null)
        context.addIssue({ code: 'custom', path: ['blocks', index, 'slot'], message: problem })
      if (typeof id !== 'string') continue
      if (ids.has(id)) {
        const message = `must be unique: another block has the id ${id}`
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
    stale: z.boolean().describe(`True without a write for ${canvasStaleDays} days.`),
    created_at: Timestamp,
    updated_at: Timestamp,
    updated_by_execution_id: z.string().nullable(),
  })
  .meta({ id: 'CanvasSummary' })
export type CanvasSummary = z.output<typeof CanvasSummary>

export const Canvas = CanvasSummary.extend({ blocks: z.array(CanvasBlock) }).meta({ id: 'Canvas' })
export type Canvas = z.output<typeof Canvas>

// JSON may need up to three bytes per byte of content, so the limit is checked after parsing.
const bodyLimit = 3 * mostBlockBytes + 64 * 1024
// A value has at least two bytes with its separator.
const maxValues = mostBlockBytes / 2
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
  summary: 'Canvases of an agent without their blocks: pinned ones first, then the latest change',
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
  summary: 'Get a canvas',
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
  summary: 'Create or replace a canvas',
  description: `For the agent itself and people with access. Replaces everything except the pin and the links. At most ${mostBlocks} blocks of 512 KiB in total (else 413), ${mostCanvases} canvases per agent (else 409) and 60 writes a minute. Scripts, styles, forms and frames are removed from HTML.`,
  tag,
  access: { who: 'access' },
  params: NewCanvasParams,
  body: CanvasBody,
  bodyLimit,
  maxValues,
  returns: Canvas,
  fails: [...writeFails, 'conflict'],
  audit: { type: 'execution', action: 'set_canvas' },
})

export const patchCanvas = endpoint({
  id: 'patchCanvas',
  method: 'PATCH',
  path: '/api/agents/{name}/canvas/{canvas_id}',
  summary: 'Change blocks of a canvas by their ids',
  description:
    'Omitted fields of a block stay unchanged; its payload is replaced completely. Changes all blocks or none; an unknown id is 422. Concurrent changes are applied one after another, so none is lost.',
  tag,
  access: { who: 'access' },
  params: CanvasParams,
  body: CanvasPatch,
  bodyLimit,
  maxValues,
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
  summary: 'Pin or unpin a canvas',
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
  summary: 'Delete several canvases; skips missing ones',
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
  summary: 'List the canvases of an agent in the Workspace',
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
  summary: 'Get a canvas of an agent in the Workspace',
  tag: 'Workspace',
  access: workspaceAccess,
  params: CanvasParams,
  returns: Canvas,
  fails: ['agent_not_found', 'canvas_not_found'],
})

const fields = z.object({ canvas_id: z.string(), title: z.string().nullable() })
export const canvasUpdated = eventType({ name: 'canvas.updated', stored: true, fields })
export const canvasDeleted = eventType({ name: 'canvas.deleted', stored: true, fields })
