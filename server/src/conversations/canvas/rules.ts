import {
  BlockInput,
  type BlockPatch,
  type CanvasBlock,
  type CanvasTemplate,
  mostBlockBytes,
  slotProblem,
} from '@roost/contracts/conversations/canvas-blocks'
import { jsonBytes } from '@roost/contracts/kit/json'
import { Fault, invalidField } from '../../kit/fault.ts'

/** Returns the sanitized form of each text. */
export type Sanitise = (html: string) => string

/** The HTML that a request contains, with the path of its field. */
export function htmlOf(
  blocks: readonly { payload?: unknown }[],
): { html: string; path: (string | number)[] }[] {
  return blocks.flatMap(({ payload }, index) =>
    typeof payload === 'object' && payload !== null && 'html' in payload && typeof payload.html === 'string'
      ? [{ html: payload.html, path: ['blocks', index, 'payload', 'html'] }]
      : [],
  )
}

/** Gives each block an id and sanitizes HTML. Given ids are distinct already. Throws `body_too_large`. */
export function normalizeBlocks(blocks: readonly BlockInput[], sanitise: Sanitise): CanvasBlock[] {
  const usedIds = new Set(blocks.flatMap(({ id }) => id ?? []))
  let last = 0
  const nextId = () => {
    do last += 1
    while (usedIds.has(`b${last}`))
    return `b${last}`
  }
  return enforceSize(blocks.map((block) => normalizeBlock(block, block.id ?? nextId(), sanitise)))
}

/**
 * Applies all patches and keeps the order. Throws `body_too_large`, and `validation_error` naming the first block that
 * is unknown or invalid.
 */
export function patchBlocks(
  blocks: readonly CanvasBlock[],
  template: CanvasTemplate | null,
  patches: readonly BlockPatch[],
  sanitise: Sanitise,
): CanvasBlock[] {
  const result = [...blocks]
  for (const [index, patch] of patches.entries()) {
    const position = result.findIndex(({ id }) => id === patch.id)
    const current = result[position]
    if (!current) throw invalidField(['blocks', index, 'id'], `is no block of this canvas: ${patch.id}`)
    const parsed = BlockInput.safeParse({ ...current, ...patch })
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      // Parsed JSON has no symbol keys.
      const path = (issue?.path ?? []) as (string | number)[]
      throw invalidField(['blocks', index, ...path], issue?.message ?? 'is not a block', issue?.code)
    }
    const problem = slotProblem(template, parsed.data.slot ?? null)
    if (problem !== null) throw invalidField(['blocks', index, 'slot'], problem)
    // Stored HTML is sanitized already.
    const isStored = current.kind === 'html' && patch.payload === undefined
    result[position] = normalizeBlock(parsed.data, current.id, isStored ? (html) => html : sanitise)
  }
  return enforceSize(result)
}

function normalizeBlock(block: BlockInput, id: string, sanitise: Sanitise): CanvasBlock {
  const common = { id, title: block.title ?? null, slot: block.slot ?? null }
  if (block.kind === 'html') {
    return { ...common, kind: 'html', payload: { html: sanitise(block.payload.html) } }
  }
  return { ...block, ...common }
}

function enforceSize(blocks: CanvasBlock[]): CanvasBlock[] {
  const bytes = jsonBytes(blocks)
  if (bytes <= mostBlockBytes) return blocks
  throw new Fault(
    'body_too_large',
    `The blocks are ${bytes} bytes of JSON; a canvas has at most ${mostBlockBytes}.`,
  )
}
