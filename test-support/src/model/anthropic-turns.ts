import { type JsonObject, textOf } from './json.ts'
import { userTexts } from './reminders.ts'

/**
 * `claude` sends messages of the user that no answer stands between (the earlier one failed or was interrupted) as
 * one. Where it joins two texts, the first gets a newline; its notes (of a picture, of an interruption) end a
 * message too. What stands before the last such end is an earlier turn: its directives are over. A reminder joined
 * on behind makes no turn.
 */
export function splitTurns(blocks: JsonObject[]): JsonObject[][] {
  const end = blocks.findLastIndex((block, index) => {
    return (isJoined(block, blocks[index + 1]) || isNote(block)) && blocks.slice(index + 1).some(isOfUser)
  })
  const own = blocks.map((block, index) => {
    return isJoined(block, blocks[index + 1]) ? { ...block, text: textOf(block.text).slice(0, -1) } : block
  })
  return end === -1 ? [own] : [own.slice(0, end + 1), own.slice(end + 1)]
}

function isJoined(block: JsonObject, next: JsonObject | undefined): boolean {
  return block.type === 'text' && textOf(block.text).endsWith('\n') && next?.type === 'text'
}

function isNote(block: JsonObject): boolean {
  return (
    block.type === 'text' && /^\[(Image: |Request interrupted by user)[^\]]*\]\n?$/.test(textOf(block.text))
  )
}

function isOfUser(block: JsonObject): boolean {
  if (block.type === 'text') return userTexts([textOf(block.text)]).length > 0
  return block.type === 'image'
}
