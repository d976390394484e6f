import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HeldRun } from '@roost/contracts/link/messages'
import type { RunResult } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { type Clock, timestamp } from '../kit/clock.ts'
import { numberAt, parseObject, textAt } from '../kit/json.ts'
import { type MadeLine, type SpooledLine, toSpooledLine } from './cut-line.ts'
import { openSegments } from './segments.ts'

/** What one run has produced and the platform has not committed yet, on the volume before it is sent. */
export type RunSpool = {
  readonly executionId: string
  readonly claimToken: number
  state(): HeldRun['state']
  /** The runtime was spawned. */
  markSpawned(): void
  /** Written before it returns. `sourceBytes` marks a line that was shortened when it was read. */
  append(lines: TranscriptLine[], sourceBytes?: number | null): void
  lastLine(): number
  acked(): number
  /** Lines from number `from`, at least one if there is one, together at most `maxBytes`. */
  read(from: number, maxBytes: number): { from: number; lines: SpooledLine[] }
  /** The platform has committed everything up to `number`. */
  ack(number: number): void
  /** `last_line` is filled in here. */
  finish(result: Omit<RunResult, 'last_line'>): void
  result(): RunResult | null
  bytes(): number
  remove(): void
  isRemoved(): boolean
}

export type RunIdentity = { executionId: string; claimToken: number; kind: 'chat' | 'task' }

export type RunSpoolDeps = {
  directory: string
  clock: Pick<Clock, 'now'>
  /** No more room in the spool as a whole. */
  isFull(): boolean
}

/** Kept in memory of lines that wait for an acknowledgement, or for room; more is read from the disk. */
const memoryBytes = 1024 * 1024

type Recent = { number: number; line: SpooledLine; bytes: number }

export function createRunSpool(run: RunIdentity, deps: RunSpoolDeps): RunSpool {
  mkdirSync(deps.directory, { recursive: true, mode: 0o700 })
  writeAtomically(join(deps.directory, runFile), { ...run, state: 'accepted' })
  return openRunSpool(run, 'accepted', deps)
}

/** Reads a run that an earlier life of the program left; null when it left too little to tell what it was. */
export function recoverRunSpool(deps: RunSpoolDeps): RunSpool | null {
  const kept = readObject(join(deps.directory, runFile))
  const executionId = textAt(kept, 'executionId')
  const claimToken = numberAt(kept, 'claimToken')
  if (executionId === null || claimToken === null) return null
  const kind = textAt(kept, 'kind') === 'chat' ? 'chat' : 'task'
  const state = textAt(kept, 'state') === 'spawned' ? 'spawned' : 'accepted'
  return openRunSpool({ executionId, claimToken, kind }, state, deps)
}

const runFile = 'run.json'
const resultFile = 'result.json'

function openRunSpool(run: RunIdentity, found: 'accepted' | 'spawned', deps: RunSpoolDeps): RunSpool {
  const segments = openSegments(deps.directory)
  const recent: Recent[] = []
  let recentBytes = 0
  let state: HeldRun['state'] = found
  let last = segments.last()
  let acked = Math.max(0, segments.first() - 1)
  let isRemoved = false
  let dropped = { lines: 0, bytes: 0 }
  let tail: MadeLine[] = []
  let tailBytes = 0
  // Written by finish() with exactly these fields.
  let result = readObject(join(deps.directory, resultFile)) as RunResult | null
  if (result) state = 'finished'

  function remember({ line, bytes }: MadeLine) {
    last += 1
    recent.push({ number: last, line, bytes })
    recentBytes += bytes
    trim()
  }

  /** What is on the disk may leave the memory. */
  function trim() {
    const onDisk = segments.last()
    for (
      let oldest = recent[0];
      oldest && (oldest.number <= acked || (recentBytes > memoryBytes && oldest.number <= onDisk));
      oldest = recent[0]
    ) {
      recent.shift()
      recentBytes -= oldest.bytes
    }
  }

  function write(lines: MadeLine[]): boolean {
    try {
      segments.append(lines.map(({ text }) => `${text}\n`).join(''), lines.length)
    } catch {
      return false
    }
    for (const line of lines) remember(line)
    return true
  }

  /** Without room the middle of the run is lost: the end is kept in memory until there is some. */
  function hold(line: MadeLine) {
    tail.push(line)
    tailBytes += line.bytes
    while (tailBytes > memoryBytes && tail.length > 1) {
      const lost = tail.shift()
      if (!lost) break
      tailBytes -= lost.bytes
      dropped = { lines: dropped.lines + 1, bytes: dropped.bytes + lost.bytes }
    }
  }

  function release(isLast: boolean) {
    if (tail.length === 0) return
    const notice = toSpooledLine(
      {
        type: 'system',
        subtype: 'notice',
        level: 'warning',
        message: `The spool was full: ${dropped.lines} lines (${dropped.bytes} bytes) of this run are missing here.`,
      },
      timestamp(deps.clock),
      null,
    )
    const lines = dropped.lines > 0 ? [notice, ...tail] : tail
    // When the disk takes nothing at all, the end of the run is sent from memory.
    if (!write(lines)) {
      if (!isLast) return
      for (const line of lines) remember(line)
    }
    tail = []
    tailBytes = 0
    dropped = { lines: 0, bytes: 0 }
  }

  return {
    executionId: run.executionId,
    claimToken: run.claimToken,
    state: () => state,
    markSpawned() {
      if (state !== 'accepted') return
      state = 'spawned'
      tryWrite(join(deps.directory, runFile), { ...run, state })
    },
    append(lines, sourceBytes = null) {
      if (isRemoved || state === 'finished' || lines.length === 0) return
      const made = lines.map((line) => toSpooledLine(line, timestamp(deps.clock), sourceBytes))
      const isFull = deps.isFull()
      if (!isFull) release(false)
      if (!isFull && tail.length === 0 && write(made)) return
      for (const line of made) hold(line)
    },
    lastLine: () => last,
    acked: () => acked,
    read(from, maxBytes) {
      const inMemory = recent.findIndex(({ number }) => number === from)
      const source = inMemory === -1 ? segments.readFrom(from).map(parseLine) : recent.slice(inMemory)
      const lines: SpooledLine[] = []
      let size = 0
      for (const { line, bytes } of source) {
        if (lines.length > 0 && size + bytes > maxBytes) break
        lines.push(line)
        size += bytes
      }
      return { from, lines }
    },
    ack(number) {
      if (number <= acked) return
      acked = Math.min(number, last)
      segments.dropThrough(acked)
      trim()
    },
    finish(made) {
      if (isRemoved || state === 'finished') return
      release(true)
      state = 'finished'
      result = { ...made, last_line: last }
      tryWrite(join(deps.directory, resultFile), result)
      segments.close()
    },
    result: () => result,
    bytes: () => (isRemoved ? 0 : segments.bytes()),
    remove() {
      if (isRemoved) return
      isRemoved = true
      segments.close()
      rmSync(deps.directory, { recursive: true, force: true })
    },
    isRemoved: () => isRemoved,
  }
}

/** Lines on the disk were written by this program. */
function parseLine(text: string): { line: SpooledLine; bytes: number } {
  return { line: JSON.parse(text) as SpooledLine, bytes: Buffer.byteLength(text) }
}

/** A full disk must not end a run: what cannot be kept is still sent from memory. */
function tryWrite(path: string, value: object) {
  try {
    writeAtomically(path, value)
  } catch {}
}

function writeAtomically(path: string, value: object) {
  writeFileSync(`${path}.new`, JSON.stringify(value), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

function readObject(path: string) {
  try {
    return parseObject(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}
