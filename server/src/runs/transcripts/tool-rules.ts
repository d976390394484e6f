import type { NumberedLine } from './rules.ts'

/** A tool call as the transcript shows it; its result follows in a later line. */
export type ToolStart = { id: string; n: number; tool: string; input_summary: string; at: string }
export type ToolEnd = { id: string; output_summary: string; success: boolean; at: string }

/** Calls, and results, that are recorded of one line. Models make some ten at once. */
export const maxToolsPerLine = 50

/** Returns the tool calls and results in stored lines, in order. Lines from an agent may have any shape. */
export function toolsIn(lines: readonly NumberedLine[]): { started: ToolStart[]; ended: ToolEnd[] } {
  const started: ToolStart[] = []
  const ended: ToolEnd[] = []
  for (const { n, line } of lines) {
    if (line.type !== 'assistant' && line.type !== 'user') continue
    const [calls, results] = [started.length, ended.length]
    for (const block of blocksOf(line)) {
      if (started.length - calls === maxToolsPerLine || ended.length - results === maxToolsPerLine) break
      if (block.type === 'tool_use' && typeof block.id === 'string' && typeof block.name === 'string') {
        const { id, name } = block
        started.push({
          id: short(id),
          n,
          tool: name.slice(0, 200),
          input_summary: summaryOf(block.input),
          at: line._ts,
        })
      }
      if (block.type === 'tool_result' && typeof block.tool_use_id === 'string') {
        ended.push({
          id: short(block.tool_use_id),
          output_summary: summaryOf(block.content),
          success: block.is_error !== true,
          at: line._ts,
        })
      }
    }
  }
  return { started, ended }
}

const summaryLength = 200
/** Field names of coding tools that describe a call best, in order of preference. */
const descriptiveFields = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'prompt']

/** Summarizes the input or output of a tool in one line of at most 200 characters. */
export function summaryOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (descriptiveText(value) ?? JSON.stringify(value) ?? '')
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > summaryLength ? `${line.slice(0, summaryLength - 1).toWellFormed()}…` : line
}

function descriptiveText(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const fields = value as Record<string, unknown>
  const found = descriptiveFields
    .map((name) => fields[name])
    .find((field) => typeof field === 'string' && field !== '')
  return typeof found === 'string' ? found : null
}

type Block = Record<string, unknown>

function blocksOf(line: object): Block[] {
  const message = 'message' in line ? line.message : null
  const content =
    typeof message === 'object' && message !== null && 'content' in message ? message.content : null
  if (!Array.isArray(content)) return []
  return content.filter((block): block is Block => typeof block === 'object' && block !== null)
}

/** Ids are part of a database key: longer ones are truncated, in calls and results alike. */
function short(id: string): string {
  return id.slice(0, 200)
}
