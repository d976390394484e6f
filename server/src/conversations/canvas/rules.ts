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

/** Handed in: only HTML needs the library. */
export type Sanitise = (html: string) => string

/**
 * Blocks as they are kept: each with an id, HTML without what could act. Ids that were given are distinct already.
 * Throws `body_too_large`.
 */
export function keptBlocks(blocks: readonly BlockInput[], sanitise: Sanitise): CanvasBlock[] {
  const taken = new Set(blocks.flatMap(({ id }) => id ?? []))
  let last = 0
  const nextId = () => {
    do last += 1
    while (taken.has(`b${last}`))
    return `b${last}`
  }
  return bounded(blocks.map((block) => keptBlock(block, block.id ?? nextId(), sanitise)))
}

/**
 * The blocks with all changes made, in their old order. Throws `validation_error` that names the first block that is
 * unknown or does not fit its kind or slot, and `body_too_large`.
 */
export function patchedBlocks(
  blocks: readonly CanvasBlock[],
  template: CanvasTemplate | null,
  patches: readonly BlockPatch[],
  sanitise: Sanitise,
): CanvasBlock[] {
  const result = [...blocks]
  for (const [index, patch] of patches.entries()) {
    const place = result.findIndex(({ id }) => id === patch.id)
    const before = result[place]
    if (!before) throw invalidField(['blocks', index, 'id'], `is no block of this canvas: ${patch.id}`)
    const read = BlockInput.safeParse({ ...before, ...patch })
    if (!read.success) {
      const [issue] = read.error.issues
      // Names of fields are no symbols: what was read is JSON.
      const path = (issue?.path ?? []) as (string | number)[]
      throw invalidField(['blocks', index, ...path], issue?.message ?? 'is not a block', issue?.code)
    }
    const problem = slotProblem(template, read.data.slot ?? null)
    if (problem !== null) throw invalidField(['blocks', index, 'slot'], problem)
    result[place] = keptBlock(read.data, before.id, sanitise)
  }
  return bounded(result)
}

function keptBlock(block: BlockInput, id: string, sanitise: Sanitise): CanvasBlock {
  const head = { id, title: block.title ?? null, slot: block.slot ?? null }
  if (block.kind === 'html') {
    return { ...head, kind: 'html', payload: { html: sanitise(block.payload.html) } }
  }
  return { ...block, ...head }
}

function bounded(blocks: CanvasBlock[]): CanvasBlock[] {
  const bytes = jsonBytes(blocks)
  if (bytes <= mostBlockBytes) return blocks
  throw new Fault(
    'body_too_large',
    `The blocks are ${bytes} bytes of JSON; a canvas has at most ${mostBlockBytes}.`,
  )
}
