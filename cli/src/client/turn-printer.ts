import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { oneLine, plainText } from './output.ts'

/** `at`: characters of the block before it; left out where no piece can come twice. */
type Piece = { type: 'partial'; kind: 'text' | 'thinking'; text: string; at?: number }
type End = { type: 'done' | 'stream_end'; status: string; detail?: unknown }
/** What a stream of a run brings; unknown kinds are passed over. */
export type Streamed = TranscriptLine | Piece | End | { type: 'keepalive' }

/** Writes an answer to `out` as it comes, and beside it to `aside` which tools are at work. */
export function createTurnPrinter(out: (text: string) => void, aside: (text: string) => void) {
  /** Characters of the block being written that stand there already. */
  let written = 0
  let isAtLineStart = true
  const write = (text: string) => {
    if (text === '') return
    out(plainText(text))
    isAtLineStart = text.endsWith('\n')
  }
  const endLine = () => {
    if (!isAtLineStart) write('\n')
  }
  return {
    take(object: Streamed): void {
      if (object.type === 'partial' && object.kind === 'text') {
        // Behind a reconnection a piece may begin before what stands there.
        const at = object.at ?? written
        write(object.text.slice(Math.max(0, written - at)))
        written = Math.max(written, at + object.text.length)
      }
      if (object.type === 'assistant' && object.parent_tool_use_id === undefined) {
        for (const block of object.message.content) {
          if (block.type === 'text') {
            write(block.text.slice(written))
            written = 0
            endLine()
          }
          if (block.type === 'tool_use') {
            endLine()
            aside(`· ${block.name} ${oneLine(JSON.stringify(block.input)).slice(0, 160)}\n`)
          }
        }
      }
      if (object.type === 'error') {
        endLine()
        aside(`! ${oneLine(object.message)}\n`)
      }
    },
    end: endLine,
  }
}
