import type { ModelRequest } from './conversation.ts'
import { isObject, type JsonObject } from './json.ts'

/**
 * Recognizes requests that a CLI makes for itself by the words of its prompts. A missing tool list is no
 * sign: a main turn may have none.
 */

/** True for a prompt written by a CLI in place of user text. */
export function isPromptOfCli(text: string): boolean {
  const start = text.trimStart()
  return PROMPT_STARTS.some((known) => start.startsWith(known))
}

/** True for the system prompt of a CLI's helper. */
export function isSystemOfHelper(system: string): boolean {
  return HELPER_SYSTEMS.some((known) => system.includes(known))
}

/** A minimal answer in the requested format, so that the CLI does not ask again. */
export function sideAnswer({ answerSchema, system }: ModelRequest, prompt: string): string {
  if (answerSchema) return JSON.stringify(valueForSchema(answerSchema))
  const element = /<(summary|state_snapshot|intent_summary)>/.exec(`${prompt}\n${system}`)?.[1]
  return element === undefined ? 'ok' : `<${element}>ok</${element}>`
}

/**
 * The simplest value that fits a JSON schema: first choice of an enum, 1 for integers, 0 for other numbers
 * (they are confidences), false, `ok`. Accepts both spellings of types (`object`, `OBJECT`).
 */
function valueForSchema(schema: JsonObject, depth = 0): unknown {
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0]
  if (schema.const !== undefined) return schema.const
  const type = String(Array.isArray(schema.type) ? schema.type[0] : schema.type).toLowerCase()
  const minimum = typeof schema.minimum === 'number' ? schema.minimum : null
  switch (type) {
    case 'integer':
      return minimum ?? 1
    case 'number':
      return minimum ?? 0
    case 'boolean':
      return false
    case 'array':
      return []
    case 'object':
      return objectForSchema(schema, depth)
    default:
      return 'ok'
  }
}

function objectForSchema(schema: JsonObject, depth: number): JsonObject {
  // Stops at recursive schemas; those of the CLIs have at most three levels.
  if (depth > 8 || !isObject(schema.properties)) return {}
  const members = Object.entries(schema.properties).map(([name, member]) => {
    return [name, isObject(member) ? valueForSchema(member, depth + 1) : 'ok']
  })
  return Object.fromEntries(members)
}

const PROMPT_STARTS = [
  // claude
  'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.',
  'Your task is to create a detailed summary of ',
  '[SUGGESTION MODE:',
  'The user stepped away and is coming back.',
  'Generate a short kebab-case name',
  'Web page content:',
  // gemini
  'Summarize the following tool output',
  "Summarize the user's primary intent",
  'Analyze *only* the content and structure of your immediately preceding response',
  'Critically evaluate the <state_snapshot>',
  // codex
  'You are performing a CONTEXT CHECKPOINT COMPACTION',
  'Generate a concise, single-line task title',
]

const HELPER_SYSTEMS = [
  // claude
  'Return JSON with a single "title" field',
  'Write a short summary label describing what these tool calls accomplished',
  'You are a helpful AI assistant tasked with summarizing conversations',
  // gemini
  'You are a specialized Task Routing AI',
  'You are a specialized system component responsible for distilling chat history',
]
