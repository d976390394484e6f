import {
  CanvasSummary,
  deleteCanvas,
  getCanvas,
  listCanvases,
  mainCanvas,
  patchCanvas,
  putCanvas,
} from '@roost/contracts/conversations/canvas'
import { BlockPatch, mostBlocks } from '@roost/contracts/conversations/canvas-blocks'
import type { BodyInputOf } from '@roost/contracts/kit/endpoint'
import { z } from 'zod'
import { bodyOf, described, pathOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { reasons } from './parameters.ts'
import { selfOf } from './reminders.ts'

const payloads = `kind → payload:
chart → {"type":"bar|stacked_bar|line|area|pie|donut","series":[{"label":"Runs","unit":"per day","points":[{"ts":"2030-01-31 or a name","value":3}]}]}
kpi → {"tiles":[{"label":"Open tickets","value":12,"unit":"tickets"}]}
table → {"columns":["Name","Count"],"rows":[["a",1],["b",2]]}
timeline → {"events":[{"ts":"2030-01-31T09:00:00Z","label":"Released","detail":"to all"}]}
markdown → {"markdown":"# Heading"}
diagram → {"mermaid":"flowchart LR; A-->B"} (at most 20,000 characters)
html → {"html":"<h2>…</h2>"} (structure only: scripts, styles, classes and forms are taken out)
json → any value
image → {"src":"charts/plan.png","caption":"…"} (a path in your workspace, an https address, or data:image/png;base64,… up to 64 KiB)`

const canvasIdWords = `Which canvas: letters, digits, ".", "_" and "-". Defaults to "${mainCanvas}".`
const canvasId = pathOf(getCanvas).canvas_id.optional().describe(canvasIdWords)
const differs = { '{canvas_id}': `Defaults to "${mainCanvas}".` }
const leftOut = { '{name}': reasons.self }

/** A block as input. The API checks the payload by the kind. */
const Block = BlockPatch.extend({
  id: BlockPatch.shape.id.nullish().describe('A name by which patch_canvas finds it. Defaults to b1, b2, …'),
  kind: BlockPatch.shape.kind.unwrap(),
  title: BlockPatch.shape.title.describe('Heading above the block.'),
  slot: BlockPatch.shape.slot.describe("Its position: one of the template's slots."),
  payload: z.unknown().describe('What its kind needs, as in the description of set_canvas.'),
})

type CanvasInput = BodyInputOf<typeof putCanvas>
/** The writer knows the blocks, so only their ids are returned. */
const Written = CanvasSummary.extend({ block_ids: z.array(z.string()) })

export const canvasTools: Tool[] = [
  tool({
    name: 'set_canvas',
    description: `Show people a page of yours that you keep up to date: charts, key figures, tables, timelines, text. Use it for a lasting picture that is looked at again and again (a dashboard, the state of a project); use report for a finding that never changes. Writes the whole canvas, new or anew; to change single blocks use patch_canvas. At most ${mostBlocks} blocks, 512 KiB together.

Example of blocks:
[{"id":"cost","kind":"kpi","title":"Today","slot":"kpis","payload":{"tiles":[{"label":"Cost","value":1.2,"unit":"USD"}]}},
 {"id":"why","kind":"markdown","slot":"main","payload":{"markdown":"Two runs **failed**."}}]

${payloads}

Slots need a template: dashboard (header, kpis, main, side, footer), report (header, summary, body, figures, appendix), brief (header, key-points, body), status-board (header, status, issues, next, log). Without a template blocks stand below each other.`,
    audience: 'agent',
    effect: 'write',
    requests: [
      request(putCanvas, {
        leftOut,
        differs: {
          ...differs,
          blocks: 'The payloads are described in words: their schema is too long for a list of tools.',
        },
      }),
    ],
    input: {
      canvas_id: pathOf(putCanvas).canvas_id.optional().describe(canvasIdWords),
      ...described(bodyOf(putCanvas), {
        title: 'Heading of the page.',
        audience:
          'operator (default): the people responsible for you; roster: everybody you are shared with.',
        execution_id: 'Your run that made it.',
      }),
      blocks: z.array(Block).max(mostBlocks),
    },
    output: Written,
    async run(call, { canvas_id, ...body }) {
      const params = { name: selfOf(call), canvas_id: canvas_id ?? mainCanvas }
      // The API checks payloads by their kind; its refusal names block and field.
      return written(await call.api.call(putCanvas, { params, body: body as CanvasInput }))
    },
  }),
  tool({
    name: 'patch_canvas',
    description:
      'Change blocks of a canvas of yours by their ids; other blocks stay as they are. Of a changed block only the fields that you give are replaced, a payload as a whole: [{"id":"cost","payload":{"tiles":[{"label":"Cost","value":1.4,"unit":"USD"}]}}]. Blocks are added and removed by set_canvas. Payloads are those of set_canvas.',
    audience: 'agent',
    effect: 'write',
    requests: [request(patchCanvas, { leftOut, differs })],
    input: {
      canvas_id: canvasId,
      ...described(bodyOf(patchCanvas), { execution_id: 'Your run that made the change.' }),
    },
    output: Written,
    async run(call, { canvas_id, ...body }) {
      const params = { name: selfOf(call), canvas_id: canvas_id ?? mainCanvas }
      return written(await call.api.call(patchCanvas, { params, body }))
    },
  }),
  tool({
    name: 'get_canvas',
    description: 'One of your canvases with all its blocks, as people see it now.',
    audience: 'agent',
    effect: 'read',
    requests: [request(getCanvas, { leftOut, differs })],
    input: { canvas_id: canvasId },
    run: (call, { canvas_id }) =>
      call.api.call(getCanvas, { params: { name: selfOf(call), canvas_id: canvas_id ?? mainCanvas } }),
  }),
  tool({
    name: 'list_canvases',
    description: 'Your canvases without their blocks: pinned ones first, then the last changed.',
    audience: 'agent',
    effect: 'read',
    requests: [request(listCanvases, { leftOut })],
    input: {},
    async run(call) {
      const canvases = await call.api.call(listCanvases, { params: { name: selfOf(call) } })
      return { canvases, count: canvases.length }
    },
  }),
  tool({
    name: 'clear_canvas',
    description: 'Delete one of your canvases and the links that people made to it.',
    audience: 'agent',
    effect: 'destroy',
    requests: [request(deleteCanvas, { leftOut, differs })],
    input: { canvas_id: canvasId },
    run: (call, { canvas_id }) =>
      call.api.call(deleteCanvas, { params: { name: selfOf(call), canvas_id: canvas_id ?? mainCanvas } }),
  }),
]

function written({ blocks, ...summary }: CanvasSummary & { blocks: { id: string }[] }) {
  return { ...summary, block_ids: blocks.map(({ id }) => id) }
}
