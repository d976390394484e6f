import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HeldRun } from '@roost/contracts/link/messages'
import type { RunResult } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { type Clock, timestamp } from '../kit/clock.ts'
import { numberAt, parseObject, textAt } from '../kit/json.ts'
import { openSegments } from './segments.ts'
import { type EncodedLine, type SpooledLine, toSpooledLine } from './spooled-line.ts'

/**
 * Output of one run that the platform has not committed yet. It is written to the volume before it is sent.
 */
export type RunSpool = {
  readonly executionId: string
  readonly claimToken: number
  state(): HeldRun['state']
  /** Records that the runtime was spawned. */
  markSpawned(): void
  /** Written to disk before it returns. `sourceBytes` marks a line that was truncated when read. */
  append(lines: TranscriptLine[], sourceBytes?: number | null): void
  lastLine(): number
  acked(): number
  /** Returns lines from number `from`, up to `maxBytes` but at least one if available. */
  read(from: number, maxBytes: number): { from: number; lines: SpooledLine[] }
  /** Records that the platform has committed all lines up to `number`. */
  ack(number: number): void
  /** Stores the result; `last_line` is set here. */
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
  /** True when the whole spool has reached its size limit. */
  isFull(): boolean
}

/** Memory for unacknowledged lines and for lines waiting for disk space; older ones are read from disk. */
const memoryBytes = 1024 * 1024

type Recent = { number: number; line: SpooledLine; bytes: number }

export function createRunSpool(run: RunIdentity, deps: RunSpoolDeps): RunSpool {
  mkdirSync(deps.directory, { recursive: true, mode: 0o700 })
  writeAtomically(join(deps.directory, runFile), { ...run, state: 'accepted' })
  return openRunSpool(run, 'accepted', deps)
}

/** Restores a run after a restart; null when its files are incomplete. */
export function recoverRunSpool(deps: RunSpoolDeps): RunSpool | null {
  const stored = readObject(join(deps.directory, runFile))
  const executionId = textAt(stored, 'executionId')
  const claimToken = numberAt(stored, 'claimToken')
  if (executionId === null || claimToken === null) return null
  const kind = textAt(stored, 'kind') === 'chat' ? 'chat' : 'task'
  const state = textAt(stored, 'state') === 'spawned' ? 'spawned' : 'accepted'
  return openRunSpool({ executionId, claimToken, kind }, state, deps)
}

const runFile = 'run.json'
const resultFile = 'result.json'

function openRunSpool(run: RunIdentity, initialState: 'accepted' | 'spawned', deps: RunSpoolDeps): RunSpool {
  const segments = openSegments(deps.directory)
  const recent: Recent[] = []
  let recentBytes = 0
  let state: HeldRun['state'] = initialState
  let last = segments.last()
  let acked = Math.max(0, segments.first() - 1)
  let isRemoved = false
  let dropped = { lines: 0, bytes: 0 }
  let tail: EncodedLine[] = []
  let tailBytes = 0
  // Written by finish() with exactly these fields.
  let result = readObject(join(deps.directory, resultFile)) as RunResult | null
  if (result) state = 'finished'

  function track({ line, bytes }: EncodedLine) {
    last += 1
    recent.push({ number: last, line, bytes })
    recentBytes += bytes
    trim()
  }

  /** Drops lines from memory that are committed or on disk. */
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

  function write(lines: EncodedLine[]): boolean {
    try {
      segments.append(lines.map(({ text }) => `${text}\n`).join(''), lines.length)
    } catch {
      return false
    }
    for (const line of lines) track(line)
    return true
  }

  /** Without disk space the middle of the run is dropped and its end is kept in memory. */
  function buffer(line: EncodedLine) {
    tail.push(line)
    tailBytes += line.bytes
    while (tailBytes > memoryBytes && tail.length > 1) {
      const lost = tail.shift()
      if (!lost) break
      tailBytes -= lost.bytes
      dropped = { lines: dropped.lines + 1, bytes: dropped.bytes + lost.bytes }
    }
  }

  function writeTail(isLast: boolean) {
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
    // If the disk accepts nothing, the end of the run is sent from memory.
    if (!write(lines)) {
      if (!isLast) return
      for (const line of lines) track(line)
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
      const encoded = lines.map((line) => toSpooledLine(line, timestamp(deps.clock), sourceBytes))
      const isFull = deps.isFull()
      if (!isFull) writeTail(false)
      if (!isFull && tail.length === 0 && write(encoded)) return
      for (const line of encoded) buffer(line)
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
    finish(body) {
      if (isRemoved || state === 'finished') return
      writeTail(true)
      state = 'finished'
      result = { ...body, last_line: last }
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

/** Trusts lines on disk, because this program wrote them. */
function parseLine(text: string): { line: SpooledLine; bytes: number } {
  return { line: JSON.parse(text) as SpooledLine, bytes: Buffer.byteLength(text) }
}

/** A full disk must not end a run: unsaved data is still sent from memory. */
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
