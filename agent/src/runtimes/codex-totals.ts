import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Json, parseObject } from '../kit/json.ts'

/** What a thread had used in all after its last turn: Codex reports nothing but that sum. */
export function readTotals(state: string, threadId: string): Json {
  try {
    return parseObject(readFileSync(pathOf(state, threadId), 'utf8')) ?? {}
  } catch {
    return {}
  }
}

/** A sum that cannot be kept makes the next turn's count too high; that is no reason to fail this one. */
export function writeTotals(state: string, threadId: string, usage: Json): void {
  try {
    mkdirSync(join(state, 'roost-totals'), { recursive: true })
    writeFileSync(pathOf(state, threadId), JSON.stringify(usage))
  } catch {}
}

function pathOf(state: string, threadId: string): string {
  return join(state, 'roost-totals', `${threadId.replace(/[^A-Za-z0-9_-]/g, '_')}.json`)
}
