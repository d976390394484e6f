import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { styled } from '../terminal/style.ts'
import { oneLine, plainText } from './output.ts'

/** `at`: characters of the block before this piece; absent where no piece can be repeated. */
type Piece = { type: 'partial'; kind: 'text' | 'thinking'; text: string; at?: number }
type End = { type: 'done' | 'stream_end'; status: string; detail?: unknown }
/** An object of a run's stream; unknown kinds are ignored. */
export type Streamed = TranscriptLine | Piece | End | { type: 'keepalive' }

/** Writes an answer to `out` as it arrives; tool calls and errors go to `aside`. */
export function createTurnPrinter(out: (text: string) => void, aside: (text: string) => void) {
  /** Characters of the current block that are already written. */
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
        // After a reconnection a piece may start with characters that are already written.
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
            const input = oneLine(JSON.stringify(block.input)).slice(0, 160)
            aside(
              `${styled('cyan', '·', process.stderr)} ${block.name} ${styled('dim', input, process.stderr)}\n`,
            )
          }
        }
      }
      if (object.type === 'error') {
        endLine()
        aside(`${styled('red', `! ${oneLine(object.message)}`, process.stderr)}\n`)
      }
    },
    end: endLine,
  }
}
