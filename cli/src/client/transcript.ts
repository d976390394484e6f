import type { TranscriptLine } from '@roost/contracts/link/transcript'
import type { ExecutionLog } from '@roost/contracts/runs/executions'
import { inColorOf, styled, withSymbol } from '../terminal/style.ts'
import { oneLine, plainText, seconds } from './output.ts'

const shownOutputLines = 10
const shownLineLength = 200

/**
 * Formats the stored lines of a run for people: the message, answers, tool calls with their output, and the result.
 * Without `isFull`, long input and output of tools is shortened.
 */
export function transcript(
  run: Pick<ExecutionLog, 'log' | 'message' | 'status'>,
  { isFull = false }: { isFull?: boolean } = {},
): string {
  const parts: string[] = []
  if (run.message) parts.push(styled('bold', indented('> ', plainText(run.message))))
  for (const line of run.log) parts.push(...partsOf(line as unknown as TranscriptLine, line._ts, isFull))
  if (!run.log.some(({ type }) => type === 'result'))
    parts.push(inColorOf(run.status, withSymbol(run.status)))
  return parts.join('\n\n')
}

/** Returns the paragraphs of a line; none for kinds that say nothing to people. */
function partsOf(line: TranscriptLine, at: string, isFull: boolean): string[] {
  switch (line.type) {
    case 'assistant': {
      const depth = line.parent_tool_use_id === undefined ? '' : '    '
      return line.message.content.flatMap((block) => {
        if (block.type === 'text')
          return block.text.trim() === '' ? [] : [indented(depth, plainText(block.text))]
        if (block.type === 'thinking')
          return [styled('dim', indented(`${depth}~ `, plainText(block.thinking)))]
        if (block.type !== 'tool_use') return []
        const input = isFull ? inputText(block.input) : shortened(oneLine(inputText(block.input)))
        return [
          `${depth}${styled('cyan', '·')} ${styled('bold', plainText(block.name))} ${plainText(input)}${clock(at)}`,
        ]
      })
    }
    case 'user':
      return line.message.content.map((result) => {
        const depth = line.parent_tool_use_id === undefined ? '  ' : '      '
        const text = outputText(plainText(result.content), isFull)
        return indented(depth, styled(result.is_error ? 'red' : 'dim', text === '' ? '(no output)' : text))
      })
    case 'system':
      if (line.subtype === 'notice') return [styled('yellow', `! ${plainText(line.message)}`)]
      if (line.subtype === 'compact') return [styled('dim', '- The context was compacted. -')]
      return []
    case 'error':
      return [styled('red', `! ${plainText(line.message)} (${oneLine(line.error)})`)]
    case 'result': {
      const status = line.is_error ? 'failed' : 'success'
      const turns = `${line.num_turns} ${line.num_turns === 1 ? 'turn' : 'turns'}`
      // Without the cost, which the coding CLI only estimates; `roost runs show` has the booked one.
      const details = [turns, seconds(line.duration_ms)].join(', ')
      return [`${inColorOf(status, withSymbol(status))} ${styled('dim', `(${details})`)}`]
    }
    default:
      return []
  }
}

/** A single text, such as a command or a path, is shown without the JSON around it. */
function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null) return JSON.stringify(input) ?? ''
  const values = Object.values(input)
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input)
}

function outputText(text: string, isFull: boolean): string {
  const lines = text.trimEnd().split('\n')
  if (isFull) return lines.join('\n')
  const shown = lines.slice(0, shownOutputLines).map(shortened)
  const left = lines.length - shown.length
  return [...shown, ...(left > 0 ? [`… ${left} more lines (--full shows all)`] : [])].join('\n')
}

function shortened(line: string): string {
  return line.length > shownLineLength ? `${line.slice(0, shownLineLength - 1)}…` : line
}

function indented(prefix: string, text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => prefix + line)
    .join('\n')
}

/** The local time of a line, dimmed. */
function clock(at: string): string {
  const when = new Date(at)
  const digits = [when.getHours(), when.getMinutes(), when.getSeconds()]
  return Number.isNaN(when.getTime())
    ? ''
    : styled('dim', `  ${digits.map((value) => String(value).padStart(2, '0')).join(':')}`)
}
