import { isObject, type Json, listAt, objectAt, parseObject, textAt } from '../kit/json.ts'
import type { ReadOnlyRules } from './port.ts'
import { mayWrite, refusal } from './read-only.ts'

/**
 * Run by a CLI before a writing tool. The call arrives as JSON on standard input; the verdict goes to
 * standard output. No output allows the call.
 */
export function judgeCall(call: Json, { rules, home, dialect }: HookRules): object | null {
  for (const path of pathsOf(call)) {
    if (mayWrite(rules, home, path)) continue
    const reason = refusal(rules, path)
    if (dialect === 'gemini') return { decision: 'deny', reason }
    return {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: reason,
      },
    }
  }
  return null
}

export type HookRules = { rules: ReadOnlyRules; home: string; dialect: 'gemini' | 'codex' }

/** Returns the single file of a call, or every file named in a patch. */
function pathsOf(call: Json): string[] {
  const input = objectAt(call, 'tool_input')
  const named = textAt(input, 'file_path') ?? textAt(input, 'path')
  if (named !== null) return [named]
  const patch = [textAt(input, 'input'), textAt(input, 'patch'), textAt(input, 'command')]
    .filter((text) => text !== null)
    .join('\n')
  return [...patch.matchAll(/^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+)$/gm)].map(([, path = '']) =>
    path.trim(),
  )
}

function parseRules(argument: string): HookRules {
  const parsed = parseObject(Buffer.from(argument, 'base64url').toString('utf8')) ?? {}
  const rules = objectAt(parsed, 'rules')
  const texts = (key: string) => listAt(rules, key).filter((item) => typeof item === 'string')
  return {
    rules: { blocked: texts('blocked'), allowed: texts('allowed') },
    home: textAt(parsed, 'home') ?? '/home/developer',
    dialect: textAt(parsed, 'dialect') === 'gemini' ? 'gemini' : 'codex',
  }
}

if (import.meta.main) {
  const pieces: Buffer[] = []
  for await (const piece of process.stdin) pieces.push(piece)
  const call: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'))
  const verdict = judgeCall(isObject(call) ? call : {}, parseRules(process.argv[2] ?? ''))
  if (verdict) process.stdout.write(JSON.stringify(verdict))
}
