import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Json, parseObject } from '../kit/json.ts'

/** Reads a thread's total usage after its last turn. Codex reports only totals. */
export function readTotals(state: string, threadId: string): Json {
  try {
    return parseObject(readFileSync(pathOf(state, threadId), 'utf8')) ?? {}
  } catch {
    return {}
  }
}

/** A failed write makes the next turn's count too high, which is no reason to fail this turn. */
export function writeTotals(state: string, threadId: string, usage: Json): void {
  try {
    mkdirSync(join(state, 'roost-totals'), { recursive: true })
    writeFileSync(pathOf(state, threadId), JSON.stringify(usage))
  } catch {}
}

function pathOf(state: string, threadId: string): string {
  return join(state, 'roost-totals', `${threadId.replace(/[^A-Za-z0-9_-]/g, '_')}.json`)
}
