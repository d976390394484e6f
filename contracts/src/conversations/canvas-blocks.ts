import { z } from 'zod'

/** Blocks of a canvas: each has a kind and a payload of that kind. */

export const mostBlocks = 50
/** Maximum for all blocks of a canvas together, as JSON in UTF-8. */
export const mostBlockBytes = 512 * 1024
export const longestDiagram = 20_000
export const longestDataImage = 64 * 1024

/** The slots of each template, in display order. */
export const canvasTemplates = {
  dashboard: ['header', 'kpis', 'main', 'side', 'footer'],
  report: ['header', 'summary', 'body', 'figures', 'appendix'],
  brief: ['header', 'key-points', 'body'],
  'status-board': ['header', 'status', 'issues', 'next', 'log'],
} as const
export type CanvasTemplate = keyof typeof canvasTemplates
export const CanvasTemplate = z.enum(['dashboard', 'report', 'brief', 'status-board'])

export const chartTypes = ['bar', 'stacked_bar', 'line', 'area', 'pie', 'donut'] as const

const label = z.string().min(1).max(200)
const unit = z.string().max(40).nullish()
const moment = z.string().min(1).max(100)
const figure = z.union([z.number(), z.string().max(200)], { error: 'must be a number or text' })

export const ChartPayload = z.object({
  type: z.enum(chartTypes),
  series: z
    .array(
      z.object({
        label,
        unit,
        points: z
          .array(
            z.object({
              ts: moment.describe('An ISO 8601 time, or the name of a group.'),
              value: z.number(),
            }),
          )
          .max(5000),
      }),
    )
    .min(1)
    .max(20),
})
export const KpiPayload = z.object({
  tiles: z
    .array(z.object({ label, value: figure, unit }))
    .min(1)
    .max(50),
})
export const TablePayload = z
  .object({
    columns: z.array(z.string().max(200)).min(1).max(50),
    rows: z
      .array(
        z.array(
          z.union([z.string(), z.number(), z.boolean(), z.null()], {
            error: 'must be text, a number, true, false or null',
          }),
        ),
      )
      .max(5000),
  })
  .superRefine(({ columns, rows }, context) => {
    const index = rows.findIndex((row) => row.length !== columns.length)
    if (index < 0) return
    const message = `must have ${columns.length} cells, one for each column`
    context.addIssue({ code: 'custom', path: ['rows', index], message })
  })
export const TimelinePayload = z.object({
  events: z
    .array(z.object({ ts: moment, label, detail: z.string().max(2000).nullish() }))
    .min(1)
    .max(1000),
})
export const MarkdownPayload = z.object({ markdown: z.string() })
export const DiagramPayload = z.object({ mermaid: z.string().min(1).max(longestDiagram) })
export const HtmlPayload = z.object({ html: z.string() })
export const ImagePayload = z.object({
  src: z.string().min(1).superRefine(checkImageSource),
  caption: z.string().max(500).nullish(),
})
const JsonPayload = z.unknown().refine((value) => value !== undefined, 'is required')

export const blockKinds = [
  'chart',
  'kpi',
  'table',
  'timeline',
  'markdown',
  'diagram',
  'html',
  'json',
  'image',
] as const
export type BlockKind = (typeof blockKinds)[number]

export const BlockId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits, ".", "_" and "-"')
const title = z.string().max(300).nullable()
const slot = z.string().max(40).nullable()

/** A block of a request; the server adds a missing id. */
export const BlockInput = blockOf({
  id: BlockId.nullish().describe('`b1`, `b2`, … for those without one.'),
  title: title.optional(),
  slot: slot.optional().describe("One of the template's slots."),
})
export type BlockInput = z.output<typeof BlockInput>

export const CanvasBlock = blockOf({ id: BlockId, title, slot }).meta({ id: 'CanvasBlock' })
export type CanvasBlock = z.output<typeof CanvasBlock>
export type BlockOf<K extends BlockKind> = Extract<CanvasBlock, { kind: K }>

/** A change of one block. Omitted fields stay unchanged; a payload is replaced completely. */
export const BlockPatch = z.object({
  id: BlockId,
  kind: z.enum(blockKinds).optional(),
  title: title.optional(),
  slot: slot.optional(),
  payload: z.unknown().optional(),
})
export type BlockPatch = z.output<typeof BlockPatch>

/** Returns why a block may not use a slot; null if it may. Without a slot, the template chooses one. */
export function slotProblem(template: CanvasTemplate | null, slot: string | null): string | null {
  if (slot === null) return null
  if (template === null) return 'must be absent without a template'
  const slots: readonly string[] = canvasTemplates[template]
  return slots.includes(slot) ? null : `must be a slot of the template ${template}: ${slots.join(', ')}`
}

/** Returns the source of an image: a web server, inline data, or a file in the agent's workspace. */
export function imageKind(src: string): 'web' | 'data' | 'workspace' {
  if (src.startsWith('https://')) return 'web'
  return src.startsWith('data:') ? 'data' : 'workspace'
}

function checkImageSource(src: string, context: z.RefinementCtx<string>): void {
  const message = imageProblem(src)
  if (message !== null) context.addIssue({ code: 'custom', message })
}

const sourceRule =
  'must be an https address, a workspace path that ends in .png, .jpg, .jpeg, .gif or .webp, or data:image/…;base64'

function imageProblem(src: string): string | null {
  switch (imageKind(src)) {
    case 'web':
      return src.length <= 2048 && URL.canParse(src)
        ? null
        : 'must be an https address of at most 2,048 characters'
    case 'data':
      if (src.length > longestDataImage) return 'must be at most 64 KiB for an inline image'
      return /^data:image\/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/.test(src)
        ? null
        : sourceRule
    case 'workspace': {
      const isPlain = src.length <= 1024 && /^(\/home\/developer\/)?[^/\\:?#][^\\:?#]*$/.test(src)
      const stays = !src.split('/').includes('..')
      return isPlain && stays && /\.(png|jpe?g|gif|webp)$/i.test(src) ? null : sourceRule
    }
  }
}

function blockOf<Head extends z.ZodRawShape>(head: Head) {
  return z.discriminatedUnion(
    'kind',
    [
      z.object({ ...head, kind: z.literal('chart'), payload: ChartPayload }),
      z.object({ ...head, kind: z.literal('kpi'), payload: KpiPayload }),
      z.object({ ...head, kind: z.literal('table'), payload: TablePayload }),
      z.object({ ...head, kind: z.literal('timeline'), payload: TimelinePayload }),
      z.object({ ...head, kind: z.literal('markdown'), payload: MarkdownPayload }),
      z.object({ ...head, kind: z.literal('diagram'), payload: DiagramPayload }),
      z.object({ ...head, kind: z.literal('html'), payload: HtmlPayload }),
      z.object({ ...head, kind: z.literal('json'), payload: JsonPayload }),
      z.object({ ...head, kind: z.literal('image'), payload: ImagePayload }),
    ],
    { error: `must be one of ${blockKinds.join(', ')}` },
  )
}
