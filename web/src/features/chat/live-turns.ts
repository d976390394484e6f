import type { FileAttachment } from '@roost/contracts/runs/attachments'
import type { OpenStream, StreamItem, StreamState } from '../../live/stream.ts'
import { readEvents } from '../../live/stream.ts'
import type { StreamSetting } from '../../live/stream-setting.ts'
import { readTurn } from '../../live/turn-stream.ts'
import { emptyTranscript, type Transcript } from '../transcripts/steps.ts'
import { appendLines } from '../transcripts/transcript-of.ts'
import { type TurnEnd, turnEnd } from './turn-end.ts'

export type Asked = {
  message: string
  model: string | null
  files: readonly FileAttachment[]
  /** Asked again with the same key, a message that did arrive is not taken in twice. */
  key: string
}

/**
 * - `sending`: nobody knows yet whether it is taken
 * - `waiting`: accepted; the agent has not begun
 * - `working`: the agent is at it
 * - `ended`: see `end`
 * - `refused`: see `fault`; nothing of it is stored
 */
export type Phase = 'sending' | 'waiting' | 'working' | 'ended' | 'refused'

/** A turn that is read as it happens. Values are never changed. */
export type LiveTurn = {
  key: string
  sessionId: string
  executionId: string | null
  /** What was sent from here, and when; null for a run that is only followed. */
  asked: (Asked & { at: string }) | null
  phase: Phase
  isStopping: boolean
  connection: StreamState
  transcript: Transcript
  end: TurnEnd | null
  fault: unknown
}

export type LiveTurnsDeps = {
  send(
    sessionId: string,
    asked: Asked,
    request: { headers: Record<string, string>; signal: AbortSignal },
  ): Promise<Response>
  follow(executionId: string): OpenStream
  /** The stored messages of this conversation have changed. Resolves when they are fetched. */
  onStored(sessionId: string): Promise<unknown>
  setting: StreamSetting
  /** Calls back soon: what came until then is drawn at once. */
  gather(run: () => void): void
  now(): Date
  newKey(): string
}

export type LiveTurns = ReturnType<typeof createLiveTurns>

/** The turns that this page reads, of all conversations it has shown. */
export function createLiveTurns(deps: LiveTurnsDeps) {
  const listeners = new Set<() => void>()
  let turns: readonly LiveTurn[] = []
  let reading = new AbortController()

  const set = (next: readonly LiveTurn[]) => {
    turns = next
    for (const listener of listeners) listener()
  }
  const change = (key: string, part: Partial<LiveTurn>) =>
    set(turns.map((turn) => (turn.key === key ? { ...turn, ...part } : turn)))
  const find = (key: string) => turns.find((turn) => turn.key === key)

  /** Reads a turn to its end; what comes in one go is drawn in one go. */
  async function read(turn: LiveTurn, items: AsyncIterable<StreamItem>, signal: AbortSignal): Promise<void> {
    let gathered: Record<string, unknown>[] = []
    const flush = () => {
      const present = find(turn.key)
      if (gathered.length === 0 || !present || signal.aborted) return
      const transcript = withPieces(present.transcript, appendLines(present.transcript, gathered), gathered)
      const hasBegun = gathered.some(isSignOfWork)
      gathered = []
      change(turn.key, {
        transcript,
        ...(hasBegun && present.phase === 'waiting' ? { phase: 'working' } : {}),
      })
    }
    try {
      for await (const { object } of items) {
        if (gathered.length === 0) deps.gather(flush)
        gathered.push(object)
        const end = turnEnd(object)
        if (!end) continue
        flush()
        await settle(turn, end)
        return
      }
    } catch (fault) {
      if (signal.aborted) return
      flush()
      const wasTaken = (find(turn.key)?.executionId ?? null) !== null
      if (wasTaken) await settle(turn, { status: 'unknown', code: null, detail: null })
      else change(turn.key, { phase: 'refused', fault })
    }
  }

  async function settle({ key, sessionId }: LiveTurn, end: TurnEnd): Promise<void> {
    change(key, { end })
    // The stored messages take the place of what was read; until they are there nothing may vanish.
    await deps.onStored(sessionId).catch(() => {})
    change(key, { phase: 'ended', isStopping: false })
  }

  function begin(sessionId: string, part: Pick<LiveTurn, 'executionId' | 'asked' | 'phase'>): LiveTurn {
    const turn: LiveTurn = {
      key: part.executionId ?? deps.newKey(),
      sessionId,
      isStopping: false,
      connection: 'opening',
      transcript: emptyTranscript,
      end: null,
      fault: null,
      ...part,
    }
    set([...turns, turn])
    return turn
  }

  return {
    current: () => turns,
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    send(sessionId: string, asked: Asked): void {
      const { signal } = reading
      const turn = begin(sessionId, {
        executionId: null,
        asked: { ...asked, at: deps.now().toISOString() },
        phase: 'sending',
      })
      const items = readTurn((request) => deps.send(sessionId, asked, request), {
        follow: deps.follow,
        signal,
        setting: deps.setting,
        onState: (connection) => change(turn.key, { connection }),
        onExecution(executionId) {
          change(turn.key, { executionId, phase: 'waiting' })
          void deps.onStored(sessionId).catch(() => {})
        },
      })
      void read(turn, items, signal)
    },

    /** Reads a run that was begun elsewhere, or before this page was loaded, from its first line. */
    follow(sessionId: string, executionId: string): void {
      // What is being sent may be this very run: its id comes with the receipt, and then this is asked again.
      const isKnown = (turn: LiveTurn) => turn.executionId === executionId || turn.phase === 'sending'
      if (turns.some((turn) => turn.sessionId === sessionId && isKnown(turn))) return
      const { signal } = reading
      const turn = begin(sessionId, { executionId, asked: null, phase: 'waiting' })
      const items = readEvents(deps.follow(executionId), {
        signal,
        setting: deps.setting,
        onState: (connection) => change(turn.key, { connection }),
      })
      void read(turn, items, signal)
    },

    markStopping: (key: string, isStopping: boolean) => change(key, { isStopping }),
    forget: (key: string) => set(turns.filter((turn) => turn.key !== key)),
    /** Ends all reading; the turns themselves go on. */
    close() {
      reading.abort()
      reading = new AbortController()
      set([])
    },
  }
}

/**
 * A turn that was stopped or failed stores none of what it was writing; who has read it so far must not see it
 * vanish.
 */
function withPieces(before: Transcript, after: Transcript, lines: readonly object[]): Transcript {
  const end = lines.map((line) => turnEnd({ ...line })).find((each) => each !== null)
  if (!end || end.status === 'success') return after
  const kept = new Set(after.steps.map(({ key }) => key))
  const pieces = before.steps.filter((step) => step.kind === 'text' && step.isPartial && !kept.has(step.key))
  return pieces.length > 0 ? { ...after, steps: [...after.steps, ...pieces] } : after
}

/** The receipt says only that the turn was taken in. */
function isSignOfWork(object: Record<string, unknown>): boolean {
  return !(object.type === 'system' && object.subtype === 'accepted')
}
