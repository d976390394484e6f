import { useEffect, useState } from 'react'
import type { StreamItem, StreamState } from '../../live/stream.ts'
import type { StreamObject } from '../../live/stream-parsers.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { emptyTranscript, type Transcript } from './steps.ts'
import { appendLines } from './transcript-of.ts'

/**
 * Starts reading, e.g. a bound `readEvents`. May be called again for the same key, so it must not send
 * anything.
 */
export type ReadStream = (options: {
  signal: AbortSignal
  onState: (state: StreamState) => void
}) => AsyncIterable<StreamItem>

export type LiveTranscript = {
  transcript: Transcript
  /** The stored lines as received. */
  lines: readonly StreamObject[]
  /** `ended`: with `end`, or with `error` for a refusal or a network error. Null without a stream. */
  state: StreamState | 'ended' | null
  /** The last object of the stream: `done` with the reply, or `stream_end` with the run's status. */
  end: StreamObject | null
  error: unknown
}

const nothing: LiveTranscript = {
  transcript: emptyTranscript,
  lines: [],
  state: null,
  end: null,
  error: null,
}

/**
 * The live transcript of a stream, updated at most once per frame. Another `key` starts another stream; null
 * ends it. Unmounting closes it.
 */
export function useLiveTranscript(key: string | null, read: ReadStream): LiveTranscript {
  const [live, setLive] = useState(nothing)
  const latest = useLatest(read)
  useEffect(() => {
    setLive(nothing)
    if (key === null) return
    const stop = new AbortController()
    void follow(latest.current, stop.signal, setLive)
    return () => stop.abort()
  }, [key, latest])
  return live
}

type Update = (change: (live: LiveTranscript) => LiveTranscript) => void

async function follow(read: ReadStream, signal: AbortSignal, setLive: Update): Promise<void> {
  const update: Update = (change) => {
    if (!signal.aborted) setLive(change)
  }
  const frame = createFrame((items) => update((live) => withItems(live, items)))
  try {
    const onState = (state: StreamState) => update((live) => ({ ...live, state }))
    for await (const item of read({ signal, onState })) frame.add(item)
    frame.flush()
    update((live) => ({ ...live, state: 'ended' }))
  } catch (error) {
    frame.flush()
    update((live) => ({ ...live, state: 'ended', error }))
  }
}

function withItems(live: LiveTranscript, items: StreamItem[]): LiveTranscript {
  const objects = items.map(({ object }) => object)
  const stored = items.filter(({ n }) => n !== null).map(({ object }) => object)
  const end = objects.find(({ type }) => type === 'done' || type === 'stream_end') ?? live.end
  return {
    ...live,
    transcript: appendLines(live.transcript, objects),
    lines: stored.length === 0 ? live.lines : [...live.lines, ...stored],
    end,
  }
}

/** Batches input until the next frame. There are no frames while the page is hidden. */
function createFrame(deliver: (items: StreamItem[]) => void) {
  let gathered: StreamItem[] = []
  let frame: number | null = null
  function flush() {
    if (frame !== null) cancelAnimationFrame(frame)
    frame = null
    const items = gathered
    gathered = []
    if (items.length > 0) deliver(items)
  }
  return {
    flush,
    add(item: StreamItem) {
      gathered.push(item)
      frame ??= requestAnimationFrame(flush)
    },
  }
}
