import type { VoiceEvent } from './port.ts'

/** Queue lengths at which the source is paused and resumed. */
const pauseAt = 256
const resumeAt = 64

/** Queues events in order for one reader; pauses the source when the queue is long. */
export function createEventQueue(source: { hold(): void; release(): void }) {
  let queued: VoiceEvent[] = []
  let arrived = Promise.withResolvers<void>()
  let isPaused = false
  let isEnded = false

  function push(...events: VoiceEvent[]): void {
    if (isEnded) return
    queued.push(...events)
    if (events.some(({ type }) => type === 'closed')) isEnded = true
    if (!isPaused && queued.length >= pauseAt) {
      isPaused = true
      source.hold()
    }
    arrived.resolve()
  }

  function resumeSource(): void {
    if (!isPaused || queued.length > resumeAt) return
    isPaused = false
    source.release()
  }

  async function* read(): AsyncGenerator<VoiceEvent, void, undefined> {
    for (;;) {
      const event = queued.shift()
      if (!event) {
        arrived = Promise.withResolvers()
        await arrived.promise
        continue
      }
      resumeSource()
      yield event
      if (event.type === 'closed') return
    }
  }

  return {
    push,
    isPaused: () => isPaused,
    /** Drops audio that was not read yet. */
    dropAudio() {
      queued = queued.filter(({ type }) => type !== 'audio')
      resumeSource()
    },
    events: read(),
  }
}
