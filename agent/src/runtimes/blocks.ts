import type { RunMetadata } from '@roost/contracts/link/runs'
import type { Step } from './port.ts'

/**
 * Assembles streamed pieces into blocks. Each piece is emitted as a partial immediately; the complete block
 * follows as a line when something else begins. For CLIs that stream pieces but never repeat the complete
 * text.
 */
export type Blocks = {
  text(piece: string): Step[]
  thinking(piece: string): Step[]
  toolUse(id: string, name: string, input: unknown): Step[]
  toolResult(id: string, content: string, isError: boolean): Step[]
  flush(): Step[]
  /** The last text of the turn, which is its answer. */
  response(): string
  /** Number of model calls, estimated from the stream. */
  turns(): number
  metadata(): Pick<RunMetadata, 'tool_count'>
}

export function createBlocks(): Blocks {
  let open: { kind: 'text' | 'thinking'; text: string } | null = null
  let last = ''
  let toolCount = 0
  let turns = 1
  let isAfterToolResult = false

  function flush(): Step[] {
    if (!open) return []
    const { kind, text } = open
    open = null
    if (text === '') return []
    const block = kind === 'text' ? { type: kind, text } : { type: kind, thinking: text }
    if (kind === 'text') last = text
    return [{ do: 'line', line: { type: 'assistant', message: { role: 'assistant', content: [block] } } }]
  }

  function add(kind: 'text' | 'thinking', piece: string): Step[] {
    countTurn()
    const before = open?.kind === kind ? [] : flush()
    open = { kind, text: (open?.text ?? '') + piece }
    return [...before, { do: 'partial', kind, text: piece }]
  }

  /** Text after a tool result means another model call. */
  function countTurn() {
    if (isAfterToolResult) turns += 1
    isAfterToolResult = false
  }

  return {
    text: (piece) => (piece === '' ? [] : add('text', piece)),
    thinking: (piece) => (piece === '' ? [] : add('thinking', piece)),
    toolUse(id, name, input) {
      countTurn()
      toolCount += 1
      const block = { type: 'tool_use' as const, id, name, input: input ?? {} }
      return [
        ...flush(),
        { do: 'line', line: { type: 'assistant', message: { role: 'assistant', content: [block] } } },
      ]
    },
    toolResult(id, content, isError) {
      isAfterToolResult = true
      const block = {
        type: 'tool_result' as const,
        tool_use_id: id,
        content,
        ...(isError ? { is_error: true } : {}),
      }
      return [...flush(), { do: 'line', line: { type: 'user', message: { role: 'user', content: [block] } } }]
    },
    flush,
    response: () => (open?.kind === 'text' && open.text !== '' ? open.text : last),
    turns: () => turns,
    metadata: () => ({ tool_count: toolCount }),
  }
}
