import { type JsonObject, textOf } from './json.ts'
import { userTexts } from './reminders.ts'

/**
 * `claude` joins user messages without an answer in between into one. A joined text ends with a newline; notes
 * about images or interruptions end a message too. Blocks before the last such end belong to an earlier turn,
 * whose directives no longer apply. A reminder at the end starts no turn.
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
